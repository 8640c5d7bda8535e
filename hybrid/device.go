package hybrid

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// machine is the computer that the store runs on.
type machine struct {
	host string                 // its name, for people: networks change it
	id   func() (string, error) // the system's own id of the machine; "": it has none, as in containers
}

func thisMachine() machine {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return machine{host, systemID}
}

// key returns a hash of the machine's id, for use in files; "" for a machine without an
// id.
func (m machine) key() (string, error) {
	id, err := m.id()
	if id = strings.TrimSpace(id); err != nil || id == "uninitialized" || strings.Trim(id, "0") == "" {
		return "", err
	}
	sum := sha256.Sum256([]byte("amplifier-machine\x00" + id)) // the id itself is not to be shown around
	return hex.EncodeToString(sum[:16]), nil
}

// devicesDir is the directory of the bookkeeping that records which device this is.
const devicesDir = "devices"

// deviceOf returns the device of the sessions directory on a machine. Its id is random,
// and kept beside the sessions for this machine. Two directories of one machine are two
// devices, and so are two machines that share a directory: each has its own logs.
func (e *engine) deviceOf(ctx context.Context, m machine) (syncer.Device, error) {
	if e.opts.Device != "" {
		return syncer.Device{ID: shortID(e.opts.Device), Host: m.host}, nil
	}
	key, err := m.key()
	if err != nil {
		return syncer.Device{}, err
	}
	unrecorded := shortID("not recorded", key, e.Store.Dir())
	former := func(taken map[string]bool) (string, error) { return e.formerDevice(m.host, unrecorded, taken) }
	id, err := e.recordedDevice(ctx, key, former)
	if errors.Is(err, replica.ErrNotRecorded) { // as on a disk that is full or read-only
		e.Log.Warn("which device this is is not remembered", "err", err)
		if id, err = former(nil); err != nil || id == "" {
			id, err = unrecorded, nil
		}
	}
	return syncer.Device{ID: id, Host: m.host}, err
}

// recordedDevice returns the id that is recorded for a machine. Where there is none, it
// records the former one, or else a random one.
func (e *engine) recordedDevice(ctx context.Context, key string, former func(map[string]bool) (string, error)) (id string, err error) {
	dir, err := e.Core.Bookkeeping(devicesDir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", replica.ErrNotRecorded, err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	added := false
	id, err = replica.DeviceOf(ctx, dir, replica.Machine{Key: key, Place: e.Store.Dir()}, func(taken map[string]bool) (string, error) {
		id, err := former(taken)
		added = true
		return cmp.Or(id, shortID(sessionstore.NewID())), err
	})
	if err == nil && added {
		err = e.Core.SyncDirs(sessiondir.Bookkeeping, ".") // they may be new, too
	}
	return id, err
}

// formerDevice returns the device of the directory before there was a record: a device
// that has states here, and that no other machine has taken; "" for none. Earlier
// versions made the id of the content of a file and the name of the host.
func (e *engine) formerDevice(host, unrecorded string, taken map[string]bool) (string, error) {
	states := replica.NewStates(func() (*vfs.Dir, error) { return e.Core.Bookkeeping(statesDir) }, e.Store.Dir(), "")
	known, err := states.Devices()
	if err != nil || len(known) == 0 {
		return "", err
	}
	former := []string{unrecorded}
	if home, err := sessiondir.AmplifierHome(); err == nil {
		text, err := os.ReadFile(filepath.Join(home, ".device_id"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		former = append(former, shortID(strings.TrimSpace(string(text)), host, e.Store.Dir()))
	}
	for _, id := range former {
		if known[id] && !taken[id] {
			return id, nil
		}
	}
	return "", nil
}

func shortID(parts ...string) string {
	sum := sha256.Sum256([]byte("amplifier-device\x00" + strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}
