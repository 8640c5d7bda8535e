package dirread

import (
	"time"

	"golang.org/x/sys/unix"
)

// ReadStamped is [Sessions.ReadFast] with the stamp of the file. It is the zero Stamp where a
// later change could stay unseen.
func (s *Sessions) ReadStamped(id, name string) (data []byte, now Stamp, ok bool) {
	fd, now, err := s.openStamped(id, name)
	if err != nil {
		return nil, Stamp{}, false
	}
	if data, ok = take(fd); !ok {
		return nil, Stamp{}, false
	}
	return data, now, true
}

// View hands a file and its stamp to look as [Sessions.ReadStamped] returns
// them, but without a copy: the bytes are valid during the call.
func (s *Sessions) View(id, name string, look func(data []byte, is Stamp)) (ok bool) {
	fd, now, err := s.openStamped(id, name)
	return err == nil && view(fd, func(data []byte) { look(data, now) })
}

// openStamped opens a file and returns its stamp, zero if that says nothing.
func (s *Sessions) openStamped(id, name string) (fd int, now Stamp, err error) {
	at := time.Now()
	if fd, err = s.openFast(id, name); err != nil {
		return -1, Stamp{}, err
	}
	var is unix.Stat_t
	if unix.Fstat(fd, &is) == nil {
		now = stampIn(&is, s.hooks)
	}
	if !Settled(s.hooks, now, at) || !isLocal(fd) {
		now = Stamp{}
	}
	return fd, now, nil
}
