package hybrid

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/syncer"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// deviceFile holds the machine's id. The Python tools use it too.
const deviceFile = ".device_id"

// deviceOf returns the device of the sessions directory dir. Two directories of
// one machine are two devices, and so are two machines that share a home
// directory's content: each has logs of its own.
func deviceOf(name, dir string) (syncer.Device, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if name != "" {
		return syncer.Device{ID: shortID(name), Host: host}, nil
	}
	machine, err := machineID()
	if err != nil {
		return syncer.Device{}, err
	}
	return syncer.Device{ID: shortID(machine, host, dir), Host: host}, nil
}

func shortID(parts ...string) string {
	sum := sha256.Sum256([]byte("amplifier-device\x00" + strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// machineID reads the machine's id, or makes one.
func machineID() (string, error) {
	home, err := amplifierHome()
	if err != nil {
		return "", err
	}
	base, err := sessiondir.Open(home, nil) // makes it, for the owner alone
	if err != nil {
		return "", err
	}
	if err := base.Close(); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return "", err
	}
	dir := atomicfile.New(root, nil)
	id, err := readOrMakeID(dir)
	return id, errors.Join(err, dir.Close())
}

func readOrMakeID(dir *atomicfile.Dir) (string, error) {
	text, err := dir.Root().ReadFile(deviceFile)
	if id := strings.TrimSpace(string(text)); err == nil && id != "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	id := sessionstore.NewID()
	err = dir.Replace(deviceFile, true, time.Now(), func(w io.Writer) error {
		_, err := io.WriteString(w, id)
		return err
	})
	if err != nil {
		return "", err
	}
	return id, dir.Sync()
}

// amplifierHome returns $AMPLIFIER_HOME or ~/.amplifier.
func amplifierHome() (string, error) {
	home := os.Getenv("AMPLIFIER_HOME")
	if home == "" {
		home = "~/.amplifier"
	}
	if home == "~" || strings.HasPrefix(home, "~/") || strings.HasPrefix(home, `~\`) {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		home = filepath.Join(user, home[1:])
	}
	return filepath.Abs(home)
}
