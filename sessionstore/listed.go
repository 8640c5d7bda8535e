package sessionstore

import (
	"strings"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/internal/cache"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// listed is the metadata of sessions that were listed. With it, listing them
// again asks for the stamp of each file and does not read it. Nothing is cached
// before the second listing: many processes list once. It is a part of the
// [sessionCache], which guards it.
type listed struct {
	times atomic.Int64 // how often sessions were listed; needs no guard
	of    *cache.LRU[string, listedMetadata]
	top   int // how many of the cached sessions are top-level ones
}

type listedMetadata struct {
	text []byte           // an object; never changed
	at   sessiondir.Stamp // of its file
}

// listedEntry is what a session takes beside its id and text.
const listedEntry = 256

// put caches md, or nothing of session id if md has no stamp. It does not make
// room: sessions are listed in turn, so those that it would drop are the ones
// that the next listing asks for first.
func (l *listed) put(id string, md listedMetadata) {
	l.drop(id)
	cost := int64(listedEntry + len(id) + cap(md.text))
	if md.at == (sessiondir.Stamp{}) || !l.of.Fits(cost) {
		return
	}
	id = strings.Clone(id) // it may be part of a text of many
	l.of.Put(id, md, cost)
	if IsTopLevel(id) {
		l.top++
	}
}

func (l *listed) drop(id string) {
	if _, _, ok := l.of.Remove(id); ok && IsTopLevel(id) {
		l.top--
	}
}

// dropGone drops what it knows of symlinks. When more sessions are cached than
// were found, it drops those that are gone. found is all sessions that there
// are, or all top-level ones.
func (l *listed) dropGone(found []sessiondir.Entry, all bool) {
	for _, e := range found {
		if e.Symlink {
			l.drop(e.Name)
		}
	}
	if all && l.of.Len() <= len(found) || !all && l.top <= len(found) {
		return
	}
	there := make(map[string]bool, len(found))
	for _, e := range found {
		there[e.Name] = true
	}
	for id := range l.of.Keys() {
		if !there[id] && (all || IsTopLevel(id)) {
			l.drop(id)
		}
	}
}
