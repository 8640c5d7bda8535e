package trash

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Names in the bin.
const (
	receiptFile = "receipt.json"
	sessionsDir = "sessions"
	version     = 1
)

// Receipt lists the sessions that one removal moved. Its JSON is the content of
// receipt.json.
type Receipt struct {
	Version  int       `json:"v"`        // of the format
	ID       string    `json:"id"`       // sorts by time
	At       time.Time `json:"at"`       // in seconds
	Reason   string    `json:"why"`      // [Options.Reason]
	Project  string    `json:"project"`  // name of the project's directory
	From     string    `json:"from"`     // the sessions directory
	Sessions []Session `json:"sessions"` // from List: the sessions that are still in the trash
}

var errDamaged = errors.New("it is damaged")

// stamp is the format of the time in a receipt's id. It sorts as text.
const stamp = "20060102T150405Z"

// isReceipt matches the id of a receipt.
var isReceipt = regexp.MustCompile(`^\d{8}T\d{6}Z-[a-z2-7]{6}$`)

// checkReceipt refuses an id that no receipt can have: it is a part of paths.
func checkReceipt(id string) error {
	if !isReceipt.MatchString(id) {
		return limits.Errorf(sessionstore.ErrNotFound, "the trash has no receipt %q", id)
	}
	return nil
}

func newID(at time.Time) string {
	return at.UTC().Format(stamp) + "-" + strings.ToLower(rand.Text()[:6])
}

// project returns the name of the project of a sessions directory.
func project(dir string) string { return filepath.Base(filepath.Dir(dir)) }

// receiptPath returns the path of a receipt below the sessions directory.
func receiptPath(id string) string { return filepath.Join(sessiondir.Trash, id) }

// sessionsOf returns the path of a receipt's sessions below the sessions
// directory.
func sessionsOf(id string) string { return filepath.Join(receiptPath(id), sessionsDir) }

// write stores the receipt in its directory in the trash; durably with sync.
func (r *Receipt) write(bin *vfs.Dir, sync bool) (err error) {
	if err := bin.Mkdir(r.ID); err != nil {
		return err
	}
	root, err := bin.Root().OpenRoot(r.ID)
	if err != nil {
		return err
	}
	dir := bin.At(root)
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := dir.Mkdir(sessionsDir); err != nil {
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
	return bin.Sync()
}

// readReceipt reads the receipt id. When it is damaged or of a newer version, the receipt
// has only the id and its time.
func readReceipt(bin *vfs.Dir, id string) (Receipt, error) {
	var r Receipt
	text, err := bin.Root().ReadFile(filepath.Join(id, receiptFile))
	if err == nil && json.Unmarshal(text, &r) != nil {
		err = errDamaged
	}
	if err == nil && r.Version != version {
		err = fmt.Errorf("it is of version %d, which this program does not know", r.Version)
	}
	if err != nil {
		r = Receipt{}
		r.At, _ = time.Parse(stamp, id[:len(stamp)])
		err = fmt.Errorf("read receipt %s: %w", id, err)
	}
	r.ID = id
	return r, err
}

// present returns the names of the sessions that are in a receipt's directory.
func present(bin *vfs.Dir, id string) (map[string]bool, error) {
	entries, err := fs.ReadDir(bin.Root().FS(), filepath.ToSlash(filepath.Join(id, sessionsDir)))
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

// List returns the receipts in the trash of st, the newest first, each with the
// sessions that are still in the trash. It creates no trash. A receipt that is
// damaged or of a newer version does not hide its sessions: List returns them
// beside an error that joins one for each such receipt and names it.
func List(ctx context.Context, st *sessionstore.Store) ([]Receipt, error) {
	if _, err := os.Lstat(filepath.Join(st.Dir(), sessiondir.Trash)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	bin, err := core.Of(st).Trash()
	if err != nil {
		return nil, fmt.Errorf("open trash: %w", err)
	}
	defer bin.Close()
	ids, err := receipts(bin)
	var all []Receipt
	for _, id := range ids {
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		there, perr := present(bin, id)
		if perr != nil || len(there) == 0 {
			err = errors.Join(err, perr)
			continue
		}
		r, rerr := readReceipt(bin, id)
		err = errors.Join(err, rerr)
		r.Sessions = slices.DeleteFunc(r.Sessions, func(s Session) bool {
			known := there[s.ID]
			delete(there, s.ID)
			return !known
		})
		for name := range there { // the receipt does not name it
			r.Sessions = append(r.Sessions, Session{ID: name})
		}
		slices.SortStableFunc(r.Sessions, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
		all = append(all, r)
	}
	return all, err
}

// receipts returns the ids of the receipts, newest first.
func receipts(bin *vfs.Dir) ([]string, error) {
	entries, err := fs.ReadDir(bin.Root().FS(), ".")
	var ids []string
	for _, e := range entries {
		if e.IsDir() && isReceipt.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, err
}

// Select finds ref among the receipts all, which [List] returned: a receipt with all of its
// sessions when ref is its id or the beginning of it, else the newest receipt that has the
// session ref, with that session alone. For a session, too, the beginning of the id is
// enough. The error Is [sessionstore.ErrNotFound], or a [*sessionstore.AmbiguousError] when
// ref is the beginning of several ids.
func Select(all []Receipt, ref string) (Receipt, error) {
	if ref == "" {
		return Receipt{}, limits.Errorf(sessionstore.ErrNotFound, "the trash has no %q", ref)
	}
	var found []string
	var first Receipt
	for _, r := range all {
		if strings.HasPrefix(r.ID, ref) {
			found, first = append(found, r.ID), r
		}
	}
	if len(found) == 0 {
		found, first = selectSession(all, ref)
	}
	switch len(found) {
	case 0:
		return Receipt{}, limits.Errorf(sessionstore.ErrNotFound, "the trash has no %q", ref)
	case 1:
		return first, nil
	}
	return Receipt{}, &sessionstore.AmbiguousError{Prefix: ref, Matches: found}
}

func selectSession(all []Receipt, ref string) (found []string, first Receipt) {
	for _, exact := range []bool{true, false} {
		for _, r := range all {
			for _, s := range r.Sessions {
				if s.ID != ref && (exact || !strings.HasPrefix(s.ID, ref)) || slices.Contains(found, s.ID) {
					continue
				}
				if found = append(found, s.ID); len(found) == 1 {
					first = r
					first.Sessions = []Session{s}
				}
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found, first
}
