package dir

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// header is the first line of a file.
type header struct {
	Op    string `json:"op"`
	After string `json:"after,omitempty"`
	Label int    `json:"label"`
	Body  int    `json:"body"`
}

// maxHeader is the greatest length of the line.
const maxHeader = 512

// write makes a file for a name. The file is durable, and has another name so far.
func (r *Remote) write(d *vfs.Dir, name string, h header, o *remote.Object) (*vfs.Pending, error) {
	h.Label, h.Body = len(o.Label), len(o.Body)
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	p, err := d.Prepare(name, true, time.Time{}, func(w io.Writer) error {
		for _, part := range [][]byte{append(line, '\n'), o.Label, o.Body} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if at, err := p.File().Stat(); err == nil {
		r.note(at.ModTime())
	}
	return p, nil
}

// read reads an object from a file of a directory, without its body unless whole is set, and
// then without a label that is too large. The object of an incomplete file has a version and
// neither label nor body.
func (r *Remote) read(ctx context.Context, d *vfs.Dir, file string, whole bool) (h header, o remote.Object, err error) {
	f, err := d.OpenPlain(file)
	if err != nil {
		return h, o, err
	}
	defer func() { _ = f.Close() }() // only read
	at, err := f.Stat()
	if err != nil {
		return h, o, err
	}
	o.Time = at.ModTime().UTC()
	in := bufio.NewReaderSize(f, maxHeader)
	line, err := in.ReadSlice('\n')
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	if err != nil || h.Op == "" || h.Label < 0 || h.Body < 0 || int64(len(line))+int64(h.Label)+int64(h.Body) != at.Size() {
		if failed := ioError(err); failed != nil {
			return h, o, fmt.Errorf("read %s: %w", file, failed)
		}
		o.Version = remote.Version(fmt.Sprintf("damaged-%d-%d", at.Size(), at.ModTime().UnixNano()))
		return header{}, o, nil
	}
	o.Version = remote.Version(h.Op)
	switch err := remote.TooLarge(int64(h.Label), int64(h.Body)); {
	case whole && err != nil:
		return h, o, fmt.Errorf("read %s: %w", file, err)
	case whole:
		o.Body = make([]byte, h.Body)
	case h.Label > remote.MaxLabel:
		return h, o, nil
	}
	o.Label = make([]byte, h.Label)
	for _, part := range [][]byte{o.Label, o.Body} {
		for block := range slices.Chunk(part, 64<<10) {
			if _, err := io.ReadFull(in, block); err != nil {
				return h, o, fmt.Errorf("read %s: %w", file, err)
			}
			remote.Heard(ctx)
		}
	}
	return h, o, nil
}

// ioError returns err unless the content of the file caused it.
func ioError(err error) error {
	syntax, kind := (*json.SyntaxError)(nil), (*json.UnmarshalTypeError)(nil)
	if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) || errors.As(err, &syntax) || errors.As(err, &kind) {
		return nil
	}
	return err
}
