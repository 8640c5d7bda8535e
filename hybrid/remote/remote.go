package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"time"
	"unicode/utf8"
)

// Remote is a place for objects. Its methods are called by many goroutines at once.
type Remote interface {
	// Get returns an object. With a known version, the error is [ErrUnchanged] when the
	// object still has it. The error is [ErrNotExist] when there is no such object.
	Get(ctx context.Context, part, name string, known Version) (Object, error)
	// List yields the objects that q selects in the order of their names, without their
	// bodies. An object that is stored or removed during the list may be among them or
	// not. An error is the last thing that List yields. A part without objects is empty,
	// and no error.
	List(ctx context.Context, part string, q Query) iter.Seq2[Object, error]
	// Commit stores objects of a part, and then, when swap is not nil, replaces one more,
	// whose new version it returns. An object that is among them twice is stored once. The
	// objects are durable before the swap is made, and need not be stored in one step with
	// it. The error is [ErrChanged] when the object to replace has another version,
	// [ErrUnknown] when it is not known whether it was replaced, and [ErrTooLarge] when an
	// object is too large; the other objects may be stored then, or not.
	Commit(ctx context.Context, part string, objects []Object, swap *Swap) (Version, error)
	// Delete removes objects of a part, whatever their versions. A missing object is no
	// error.
	Delete(ctx context.Context, part string, names []string) error
	// Info returns the properties of the remote, without a request where it can. The
	// identity is returned also with an error, and when ctx has ended.
	Info(ctx context.Context) (Info, error)
}

// Noter is a [Remote] that finds out about its service what a later process need not find out
// again, as whether writes keep to their conditions. Package hybrid keeps the note beside the
// sessions for a week, and only for a remote of the same identity.
type Noter interface {
	Note() string        // "" until it has found that out
	SetNote(note string) // of a former process; "", and a note that says nothing: find it out anew
}

// Version is a version of an object, as the remote names it. No two versions of an object
// have the same name, also when their content is the same. "" is none.
type Version string

// Object is an object of a part.
type Object struct {
	Name    string
	Label   []byte    // JSON, which lists hold
	Body    []byte    // any bytes; nil in a list
	Version Version   // as it was read; Commit ignores it
	Time    time.Time // when it was stored, by the remote's clock; Commit ignores it
}

// The limits of an object, in bytes. Package hybrid stores bodies of at most 1 MB, but for the
// head of a session, which has 300 bytes for each device and 20 for each branch.
const (
	MaxObject = 64 << 20 // of a body
	MaxLabel  = 64 << 10 // of a label
)

// TooLarge returns an [ErrTooLarge] for an object with so many bytes of label and body; nil:
// it is within the limits.
func TooLarge(label, body int64) error {
	if label <= MaxLabel && body <= MaxObject {
		return nil
	}
	return fmt.Errorf("%w: its label has %d bytes and its body %d, the most are %d and %d", ErrTooLarge, label, body, MaxLabel, MaxObject)
}

// CheckSizes returns an [ErrTooLarge] where an object of a commit is larger than it may be.
// Implementations call it before they store anything.
func CheckSizes(objects []Object, swap *Swap) error {
	if swap != nil {
		objects = append(slices.Clone(objects), swap.Object)
	}
	for i := range objects {
		if err := TooLarge(int64(len(objects[i].Label)), int64(len(objects[i].Body))); err != nil {
			return err
		}
	}
	return nil
}

// Query selects the objects of a part to list.
type Query struct {
	Prefix string    // of their names
	After  string    // their names are greater; "": all
	Since  time.Time // they were stored at this time or later; the zero time: at any time
}

// Swap replaces an object, if it still has a version.
type Swap struct {
	Object
	If Version // the expected version; "": there is no such object
	// Remove names objects that are removed once the object was replaced, in the same
	// request where the remote can do that. A later pruning finds the remaining ones.
	Remove []string
}

// Info is the properties of a remote.
type Info struct {
	Identity string    // distinguishes the remote from every other one, also from one with the same address
	Time     time.Time // of its newest answer, by its clock; the zero time: not known
	Batch    Batch     // limits of a Commit that is done whole or not at all
	Units    bool      // whether it tells the cost of its requests; see [Request]
	// Complete is a time by the remote's clock: a list that begins later has every object
	// whose Time is before it. The zero time is returned by a remote whose lists have an
	// object as soon as it is stored, but for clocks and replicas.
	Complete time.Time
}

// Batch bounds a Commit that is done whole, with the swap: the number of objects, with
// the swapped one, and the bytes as [Object.Size] counts them. The zero Batch is nothing.
type Batch struct{ Objects, Bytes int }

// Size returns the number of bytes of a [Batch] that the object takes: for its names, its
// label, and its body as text in JSON or in base64.
func (o *Object) Size() int {
	body := base64.StdEncoding.EncodedLen(len(o.Body))
	if utf8.Valid(o.Body) && bytes.IndexByte(o.Body, 0) < 0 {
		body = min(body, escaped(o.Body))
	}
	return 100 + 2*len(o.Name) + len(o.Label) + body
}

// escaped returns the largest number of bytes that a text takes in JSON.
func escaped(text []byte) int {
	n := len(text) + 3*(bytes.Count(text, []byte("\u2028"))+bytes.Count(text, []byte("\u2029")))
	for _, b := range text {
		switch {
		case b < ' ':
			n += 5
		case b == '"', b == '\\':
			n++
		}
	}
	return n
}
