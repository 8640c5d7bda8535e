package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// images are the images of a Markdown file, in a folder beside it. The user named the file alone, so
// nothing else is followed or overwritten there: the folder is made or is the user's own, and
// an image takes the place only of one that the former file shows.
type images struct {
	name, store string // the file, and the sessions directory
	dir         *vfs.Dir
}

func (im *images) folder() string {
	return strings.TrimSuffix(im.name, filepath.Ext(im.name)) + ".images"
}

// write is the imageWriter.
func (im *images) write(f conversation.File) (string, error) {
	data, err := f.Data()
	if err != nil {
		return "", nil // the document shows its label
	}
	if im.dir == nil {
		if im.dir, err = vfs.OpenBeside(im.folder()); err != nil {
			return "", advised(err)
		}
	}
	base := fmt.Sprintf("message-%d-%d.%s", f.N+1, f.I+1, strings.TrimPrefix(f.Media, "image/"))
	address := url.PathEscape(filepath.Base(im.folder())) + "/" + base
	was, err := im.dir.Root().Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		was, err = nil, nil
	}
	if err != nil {
		return "", err
	}
	if was != nil {
		same, err := im.has(base, was, data)
		if same || err != nil {
			return address, err
		}
		former, err := os.ReadFile(im.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if !was.Mode().IsRegular() || !bytes.Contains(former, []byte("](<"+address+">)")) || vfs.IsBelow(filepath.Dir(im.name), im.store) {
			return "", advised(&fs.PathError{Op: "replace what no export to this file wrote", Path: filepath.Join(im.folder(), base), Err: fs.ErrExist})
		}
	}
	err = im.dir.ReplaceNamed(base, was, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return address, errors.Join(err, im.dir.Sync())
}

// has reports whether the image base is there already, as an export that was interrupted left it.
func (im *images) has(base string, was fs.FileInfo, data []byte) (bool, error) {
	if !was.Mode().IsRegular() || was.Size() != int64(len(data)) {
		return false, nil
	}
	file, _, err := vfs.Open(im.dir.Root(), base, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	text, err := io.ReadAll(io.LimitReader(file, was.Size()+1))
	return bytes.Equal(text, data), errors.Join(err, file.Close())
}

// advised adds to the error for an entry that stays what the user may do.
func advised(err error) error {
	return fmt.Errorf("the images go there: move it away, or export to a file of another name: %w", err)
}

func (im *images) close() error {
	if im.dir == nil {
		return nil
	}
	return im.dir.Close()
}
