package dirread

import (
	"time"

	"golang.org/x/sys/unix"
)

// ReadIfChanged is [Sessions.ReadFast] for a caller that read the file before.
// It takes the stamp that it returned then, or the zero Stamp. As long as the
// path leads to that very file, unchanged, it returns no data and only asks for
// the stamp; so a session that was moved away, with a symlink left to it, is
// still found. The stamp that it returns is for the next call. That is the
// zero Stamp where a change could stay unseen.
func (s *Sessions) ReadIfChanged(id, name string, was Stamp) (data []byte, now Stamp, ok bool) {
	if was != (Stamp{}) && s.holds(s.path+"/"+id+"/"+name, was) {
		return nil, was, true
	}
	fd, now, err := s.openStamped(id, name)
	if err != nil {
		return nil, Stamp{}, false
	}
	if data, ok = take(fd); !ok {
		return nil, Stamp{}, false
	}
	return data, now, true
}

// View hands a file and its stamp to look as [Sessions.ReadIfChanged] returns
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

// holds reports whether path leads to the file with the stamp is.
func (s *Sessions) holds(path string, is Stamp) bool {
	var at unix.Stat_t
	err := unix.Fstatat(unix.AT_FDCWD, path, &at, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && stampIn(&at, s.hooks).Same(is)
}
