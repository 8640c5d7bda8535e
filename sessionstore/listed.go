package sessionstore

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// listed is the metadata of sessions that were listed, so that listing them
// again takes a look at each file in the place of reading it. Nothing is kept
// before the second listing: many processes list once.
type listed struct {
	times atomic.Int64 // that sessions were listed

	mu   sync.RWMutex // guards what follows
	of   map[string]listedMetadata
	size int
	top  int // how many are of top-level sessions
}

type listedMetadata struct {
	text []byte           // an object; never changed
	at   sessiondir.Stamp // of its file
}

// listedBytes is how much is kept, and listedEntry what a session takes beside
// its id and text. When there are more, any of them make room: the sessions
// are asked for in turn, so that none is the one used longest ago.
const (
	listedBytes = 32 << 20
	listedEntry = 256
)

func (l *listed) get(id string) listedMetadata {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.of[id]
}

// put keeps md, or nothing of the session if md has no stamp.
func (l *listed) put(id string, md listedMetadata) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(id)
	if md.at == (sessiondir.Stamp{}) {
		return
	}
	if l.of == nil {
		l.of = map[string]listedMetadata{}
	}
	l.of[strings.Clone(id)] = md // the id is part of a text of many
	l.count(id, md, 1)
	for other := range l.of {
		if l.size <= listedBytes {
			break
		}
		if other != id {
			l.drop(other)
		}
	}
}

func (l *listed) drop(id string) {
	if kept, ok := l.of[id]; ok {
		l.count(id, kept, -1)
		delete(l.of, id)
	}
}

// count adds one entry, or takes it away.
func (l *listed) count(id string, md listedMetadata, one int) {
	l.size += one * (listedEntry + len(id) + cap(md.text))
	if IsTopLevel(id) {
		l.top += one
	}
}

// note is told of all sessions that there are, or of the top-level ones. What
// is kept of a symlink is dropped, and what is kept of those that are gone as
// soon as more of such sessions are kept than there are.
func (l *listed) note(found []sessiondir.Entry, all bool) {
	l.times.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range found {
		if e.Symlink {
			l.drop(e.Name)
		}
	}
	if all && len(l.of) <= len(found) || !all && l.top <= len(found) {
		return
	}
	there := make(map[string]bool, len(found))
	for _, e := range found {
		there[e.Name] = true
	}
	for id := range l.of {
		if !there[id] && (all || IsTopLevel(id)) {
			l.drop(id)
		}
	}
}

// quickMetadata returns the metadata of a session if its file is sound and
// nothing is unusual about it.
func (st *Store) quickMetadata(id string) (md Metadata, ok bool) {
	var (
		kept listedMetadata
		now  sessiondir.Stamp
		data []byte
	)
	if st.listed.times.Load() < 2 {
		data, ok = st.base.Quickly(id, sessiondir.Metadata)
	} else {
		kept = st.listed.get(id)
		data, now, ok = st.base.Look(id, sessiondir.Metadata, kept.at)
	}
	if ok && data == nil {
		return Metadata{text: kept.text}, true
	}
	if ok {
		var err error
		md, err = metadataIn(data)
		ok = err == nil
	}
	if !ok || len(data) > shortText {
		now = sessiondir.Stamp{}
	}
	if kept.text != nil || now != (sessiondir.Stamp{}) {
		st.listed.put(id, listedMetadata{md.text, now})
	}
	return md, ok
}
