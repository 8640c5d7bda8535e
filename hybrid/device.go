package hybrid

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
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
	id, err := e.recordedDevice(ctx, key, unrecorded)
	if errors.Is(err, replica.ErrNotRecorded) { // as on a disk that is full or read-only
		e.Log.Warn("which device this is is not remembered", "err", err)
		id, err = unrecorded, nil
	}
	return syncer.Device{ID: id, Host: m.host}, err
}

// recordedDevice returns the id that is recorded for a machine. Where there is none, it
// records a random one; or unrecorded, if the directory has states of it that no other machine
// has taken.
func (e *engine) recordedDevice(ctx context.Context, key, unrecorded string) (id string, err error) {
	dir, err := e.Core.Bookkeeping(devicesDir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", replica.ErrNotRecorded, err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	states := replica.NewStates(func() (*vfs.Dir, error) { return e.Core.Bookkeeping(statesDir) }, e.Store.Dir(), "")
	added := false
	id, err = replica.DeviceOf(ctx, dir, replica.Machine{Key: key, Place: e.Store.Dir()}, func(taken map[string]bool) (string, error) {
		added = true
		if known, err := states.Devices(); err != nil || known[unrecorded] && !taken[unrecorded] {
			return unrecorded, err
		}
		return shortID(sessionstore.NewID()), nil
	})
	if err == nil && added {
		err = e.Core.SyncDirs(sessiondir.Bookkeeping, ".") // they may be new, too
	}
	return id, err
}

func shortID(parts ...string) string {
	sum := sha256.Sum256([]byte("amplifier-device\x00" + strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}
