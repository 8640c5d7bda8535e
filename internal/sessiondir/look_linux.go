package sessiondir

import (
	"time"

	"golang.org/x/sys/unix"
)

// Look is [Base.Quickly] for who read the file before, and was the stamp that
// Look then returned with the data, or the zero Stamp. As long as it is that
// very file, unchanged, there are no data, and no more is done than asking for
// its stamp; so a session that was moved away, with a symlink left to it, is
// still found. A later call is given now, which is the zero Stamp where a
// change could stay unseen.
func (b *Base) Look(id, name string, was Stamp) (data []byte, now Stamp, ok bool) {
	if was != (Stamp{}) && b.holds(b.path+"/"+id+"/"+name, was) {
		return nil, was, true
	}
	at := time.Now()
	fd, err := b.openQuickly(id, name)
	if err != nil {
		return nil, Stamp{}, false
	}
	var is unix.Stat_t
	if unix.Fstat(fd, &is) == nil {
		now = stampIn(&is, b.seam)
	}
	if !b.Settled(now, at) || !tellsChanges(fd) {
		now = Stamp{}
	}
	if data, ok = take(fd); !ok {
		return nil, Stamp{}, false
	}
	return data, now, true
}

// holds reports whether path leads to the file with the stamp is.
func (b *Base) holds(path string, is Stamp) bool {
	var at unix.Stat_t
	err := unix.Fstatat(unix.AT_FDCWD, path, &at, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && stampIn(&at, b.seam).Same(is)
}
