package trash

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Names in the trash.
const (
	receiptFile = "receipt.json"
	shelf       = "sessions"
	version     = 1
)

// Receipt tells what one removal took.
type Receipt struct {
	Version  int       `json:"v"`
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Why      string    `json:"why"`
	Project  string    `json:"project"` // name of the project's directory
	From     string    `json:"from"`    // the sessions directory
	Sessions []Session `json:"sessions"`
}

// stamp is the form of the time in a receipt's id, which sorts as text.
const stamp = "20060102T150405Z"

// isReceipt is the form of a receipt's id.
var isReceipt = regexp.MustCompile(`^\d{8}T\d{6}Z-[a-z2-7]{6}$`)

func newID(at time.Time) string {
	return at.UTC().Format(stamp) + "-" + strings.ToLower(rand.Text()[:6])
}

// project returns the name of the project that a sessions directory is of.
func project(dir string) string { return filepath.Base(filepath.Dir(dir)) }

// below returns the path of a receipt's sessions below the sessions directory.
func below(id string) string { return filepath.Join(sessiondir.Trash, id, shelf) }

// write stores the receipt in its directory in the trash, durably.
func (r *Receipt) write(trash *atomicfile.Dir, sync bool) (err error) {
	if err := trash.Mkdir(r.ID); err != nil {
		return err
	}
	root, err := trash.Root().OpenRoot(r.ID)
	if err != nil {
		return err
	}
	dir := trash.At(root)
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := dir.Mkdir(shelf); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	err = dir.Replace(receiptFile, sync, r.At, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil || !sync {
		return err
	}
	if err := dir.Sync(); err != nil {
		return err
	}
	return trash.Sync()
}

// readReceipt reads the receipt id. One that is damaged or newer is an error,
// beside what its name tells.
func readReceipt(trash *atomicfile.Dir, id string) (Receipt, error) {
	r := Receipt{ID: id}
	r.At, _ = time.Parse(stamp, id[:len(stamp)])
	text, err := trash.Root().ReadFile(filepath.Join(id, receiptFile))
	if err != nil {
		return r, err
	}
	var read Receipt
	if err := json.Unmarshal(text, &read); err != nil {
		return r, fmt.Errorf("read receipt %s: it is damaged", id)
	}
	if read.Version != version {
		return r, fmt.Errorf("read receipt %s: it is of version %d, which this program does not know", id, read.Version)
	}
	read.ID = id
	return read, nil
}

// present returns the names of the sessions that are there for a receipt.
func present(trash *atomicfile.Dir, id string) (map[string]bool, error) {
	entries, err := fs.ReadDir(trash.Root().FS(), filepath.ToSlash(filepath.Join(id, shelf)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	there := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			there[e.Name()] = true
		}
	}
	return there, err
}
