package sessiondir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// emptiedDir is the directory of the bookkeeping with a record of each
// transcript that was emptied on purpose: the time that it was given.
var emptiedDir = filepath.Join(Bookkeeping, "emptied")

// emptied is the record of one session.
type emptied struct {
	open func() (*vfs.Dir, error) // the sessions directory that has its path now
	id   string
}

// name returns the name of the record's file, which fits every file system.
func (e emptied) name() string {
	sum := sha256.Sum256([]byte(e.id))
	return hex.EncodeToString(sum[:])
}

// put records the time at. With sync the record is durable.
func (e emptied) put(at time.Time, sync bool) (err error) {
	top, err := e.open()
	if err != nil {
		return err
	}
	if err := top.MkdirAll(emptiedDir); err != nil {
		return err
	}
	in, err := below(top, emptiedDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	names, _ := in.NamesIn(".") // files that cannot be listed are removed next time
	for _, left := range names {
		if strings.HasPrefix(left, "."+e.name()) {
			_ = in.Remove(left) // of a killed process; tried again next time
		}
	}
	err = in.Replace(e.name(), sync, time.Now(), func(w io.Writer) error {
		_, err := io.WriteString(w, at.UTC().Format(time.RFC3339Nano)+"\n")
		return err
	})
	if err != nil || !sync {
		return err
	}
	return errors.Join(in.Sync(), syncBelow(top, Bookkeeping), top.Sync())
}

// at returns the recorded time, the zero time where there is no sound record.
func (e emptied) at() (time.Time, error) {
	top, err := e.open()
	if err != nil {
		return time.Time{}, err
	}
	data, err := top.Root().ReadFile(filepath.Join(emptiedDir, e.name()))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSuffix(string(data), "\n"))
	if err != nil {
		return time.Time{}, nil
	}
	return at, nil
}

// remove removes the record, if there is one.
func (e emptied) remove() error {
	top, err := e.open()
	if err != nil {
		return err
	}
	path := filepath.Join(emptiedDir, e.name())
	if _, err := top.Root().Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return top.Remove(path)
}
