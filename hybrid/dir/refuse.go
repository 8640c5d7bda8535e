package dir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// trust ends the path of a directory of FUSE that gives a name to one device alone.
const trust = "?trusted=1"

// copied are the programs that copy directories, by the names of the directories, alone
// or before a blank or hyphen, and by the files that they leave in them.
var copied = []struct {
	program       string
	names, within []string
}{
	{"Dropbox", []string{"dropbox"}, []string{".dropbox", ".dropbox.cache"}},
	{"OneDrive", []string{"onedrive"}, []string{".849c9593-d756-4e56-8d6e-42412f2a707b"}},
	{"iCloud", []string{"icloud drive", "iclouddrive", "mobile documents", "com~apple~clouddocs"}, nil},
	{"Google Drive", []string{"google drive", "googledrive", "my drive"}, []string{".tmp.drivedownload", ".tmp.driveupload"}},
	{"Syncthing", []string{"syncthing"}, []string{".stfolder"}},
	{"a program for files in a cloud", []string{"cloudstorage"}, nil},
}

// refuse returns an error for a directory that cannot be a remote, as far as its place
// shows.
func refuse(path string, trusted bool) error {
	for at := path; ; at = filepath.Dir(at) {
		if program := copies(at); program != "" {
			return fmt.Errorf("%w: %s copies %s, so that two devices may both make the next version: give a directory that nothing copies", remote.ErrBlocked, program, at)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if !trusted && onFUSE(path) {
		return fmt.Errorf("%w: it is on FUSE, where two devices may both get a name: if yours keeps that apart, add %s to the path", remote.ErrBlocked, trust)
	}
	return nil
}

// copies returns the program that copies a directory; "" for none.
func copies(dir string) string {
	base := strings.ToLower(filepath.Base(dir))
	for _, c := range copied {
		for _, name := range c.names {
			if base == name || strings.HasPrefix(base, name+" ") || strings.HasPrefix(base, name+"-") {
				return c.program
			}
		}
		for _, name := range c.within {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return c.program
			}
		}
	}
	return ""
}

// try finds out how a file gets a name that must be free.
func (r *Remote) try() error {
	var failed []error
	for _, r.links = range []bool{true, false} {
		err := r.twice()
		if err == nil {
			return nil
		}
		failed = append(failed, err)
		if unwritable(err) {
			return fmt.Errorf("%w: nothing can be written there: %w", remote.ErrBlocked, err)
		}
	}
	if err := errors.Join(failed...); passes(err) { // it says nothing about the abilities of the file server
		return err
	}
	return fmt.Errorf("%w: no file can get a name there that must be free, by a link or by a rename that replaces nothing: %w", remote.ErrBlocked, errors.Join(failed...))
}

// twice gives two files the same name. The second must be refused.
func (r *Remote) twice() error {
	name := ""
	for range 2 {
		p, err := r.root.Prepare("try", false, time.Time{}, func(io.Writer) error { return nil })
		if err != nil {
			return err
		}
		defer p.Discard()
		if name != "" {
			if err := r.name(r.root, p, name); !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("a second file got the name of another: %w", errors.Join(err, errors.ErrUnsupported))
			}
			return nil
		}
		name = ".tried" + p.Name()
		if err := r.name(r.root, p, name); err != nil {
			return err
		}
		defer func() { _ = r.root.Remove(name) }() // with the second file, if it got the name
	}
	return nil
}

// name gives a file a name. The error Is [fs.ErrExist] where another file has it.
func (r *Remote) name(d *vfs.Dir, p *vfs.Pending, name string) error {
	if r.links {
		return d.Link(p.Name(), name)
	}
	return p.RenameNew(name)
}

// passes reports whether an error shows a failing file server, and not the state of its
// files.
func passes(err error) bool {
	return isOne(err, syscall.EIO, syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT, syscall.EHOSTDOWN)
}

// unwritable reports whether an error shows a directory in which no file can be made.
func unwritable(err error) bool {
	return isOne(err, syscall.EROFS, syscall.EACCES, syscall.ENOSPC, syscall.EDQUOT)
}

func isOne(err error, of ...error) bool {
	return slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) })
}
