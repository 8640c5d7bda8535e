package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind is the kind of an entry's operation on the disk.
type Kind byte

const (
	Write Kind = 'W'
	Zero  Kind = 'Z' // a range reads as zeros
	Flush Kind = 'F' // everything before it is on the disk
)

// An Entry is one request to the disk.
type Entry struct {
	Kind Kind
	Off  int64
	Len  int64
	Data []byte // of a write
}

// head is the size of an entry without its data.
const head = 1 + 8 + 8

// WriteTo writes the entry.
func (e Entry) WriteTo(out io.Writer) (int64, error) {
	var h [head]byte
	h[0] = byte(e.Kind)
	binary.LittleEndian.PutUint64(h[1:], uint64(e.Off))
	binary.LittleEndian.PutUint64(h[9:], uint64(e.Len))
	if _, err := out.Write(h[:]); err != nil {
		return 0, err
	}
	n, err := out.Write(e.Data)
	return head + int64(n), err
}

// Parse returns the entries in b. The data of writes is not copied.
func Parse(b []byte) ([]Entry, error) {
	var all []Entry
	for len(b) > 0 {
		if len(b) < head {
			return nil, io.ErrUnexpectedEOF
		}
		e := Entry{
			Kind: Kind(b[0]),
			Off:  int64(binary.LittleEndian.Uint64(b[1:])),
			Len:  int64(binary.LittleEndian.Uint64(b[9:])),
		}
		b = b[head:]
		switch {
		case e.Off < 0 || e.Len < 0:
			return nil, errors.New("entry with a negative number")
		case e.Kind == Zero || e.Kind == Flush:
		case e.Kind != Write:
			return nil, fmt.Errorf("entry of the unknown kind %q", e.Kind)
		case int64(len(b)) < e.Len:
			return nil, io.ErrUnexpectedEOF
		default:
			e.Data, b = b[:e.Len:e.Len], b[e.Len:]
		}
		all = append(all, e)
	}
	return all, nil
}
