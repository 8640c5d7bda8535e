//go:build !linux

package sessiondir

import "errors"

// isPlain is false: nothing here asks.
func isPlain(string) bool { return false }

// Quickly returns the content of the file name of session id where there is a
// quick way to it.
func (b *Base) Quickly(id, name string) (data []byte, ok bool) { return nil, false }

// Look is [Base.Quickly] for who read the file before, where there is a quick
// way to it.
func (b *Base) Look(id, name string, was Stamp) (data []byte, now Stamp, ok bool) {
	return nil, Stamp{}, false
}

// Quickly is [Base.Quickly] with room for what is in the file.
func (s *Shelf) Quickly(id, name string, room []byte) (data []byte, err error) {
	return nil, errors.ErrUnsupported
}
