//go:build !linux

package dirread

import "errors"

// ReadFast returns the content of the file name of session id where there is a
// fast way to it.
func (s *Sessions) ReadFast(id, name string) (data []byte, ok bool) { return nil, false }

// ReadStamped is [Sessions.ReadFast] with the stamp of the file.
func (s *Sessions) ReadStamped(id, name string) (data []byte, now Stamp, ok bool) {
	return nil, Stamp{}, false
}

// View is for Linux.
func (s *Sessions) View(id, name string, look func(data []byte, is Stamp)) (ok bool) { return false }

// ReadFast is [Sessions.ReadFast] with room for what is in the file.
func (d *Dir) ReadFast(id, name string, room []byte) (data []byte, err error) {
	return nil, errors.ErrUnsupported
}
