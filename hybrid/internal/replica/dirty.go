package replica

import (
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// DirtySet is the set of the sessions that have to be synced. It holds ids alone, so
// it does not grow however long the cloud is away. Its methods may be called by many
// goroutines.
type DirtySet struct {
	mu       sync.Mutex // guards the fields below
	dirty    map[string]Reason
	own      map[string]struct{} // sessions whose transcripts this store wrote since they were last scanned
	gone     map[string]struct{} // sessions removed by this store
	installs map[string][]string // files of sessions that a sync is writing now

	// More holds a token when there may be something to do.
	More chan struct{}
}

// Reason is the reason to sync a session.
type Reason uint8

// The reasons, in ascending order of weight.
const (
	Written Reason = iota // its files may have changed
	Hinted                // the cloud may have changed
)

// NewDirtySet returns an empty set.
func NewDirtySet() *DirtySet {
	return &DirtySet{
		dirty: map[string]Reason{}, own: map[string]struct{}{}, gone: map[string]struct{}{}, installs: map[string][]string{}, More: make(chan struct{}, 1),
	}
}

// Changed records that this store wrote or removed a file of a session, or removed the
// session, when file is "". It reports whether a program did that, not a sync. It
// allocates nothing for a session that is in the set already.
func (d *DirtySet) Changed(id, file string, removed bool) (program bool) {
	d.mu.Lock()
	installed := d.isInstalled(id, file)
	switch {
	case installed:
	case file == sessiondir.Transcript:
		d.own[id] = struct{}{}
	case file == "" && removed:
		d.gone[id] = struct{}{}
	}
	d.mu.Unlock()
	d.Add(id, Written)
	return !installed
}

// Add adds a session. A session in the set keeps the reason of more weight.
func (d *DirtySet) Add(id string, why Reason) {
	d.mu.Lock()
	if had, ok := d.dirty[id]; !ok || why > had {
		d.dirty[id] = why
	}
	d.mu.Unlock()
	d.Wake()
}

// Wake wakes a goroutine that waits for More.
func (d *DirtySet) Wake() {
	select {
	case d.More <- struct{}{}:
	default:
	}
}

// Take returns the set and empties it.
func (d *DirtySet) Take() map[string]Reason {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.dirty
	d.dirty = map[string]Reason{}
	return taken
}

// Size returns the number of sessions in the set.
func (d *DirtySet) Size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.dirty)
}

// Removed reports whether this store removed a session.
func (d *DirtySet) Removed(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, gone := d.gone[id]
	return gone
}

// Returned forgets that this store removed a session, which is here again.
func (d *DirtySet) Returned(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.gone, id)
}

// Wrote reports whether this store wrote a transcript that was not scanned since.
func (d *DirtySet) Wrote() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.own) > 0
}

// IsOwn reports whether this store wrote the transcript since TakeOwn was last
// called.
func (d *DirtySet) IsOwn(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, own := d.own[id]
	return own
}

// TakeOwn reports whether this store wrote the transcript since it was last
// called.
func (d *DirtySet) TakeOwn(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, own := d.own[id]
	delete(d.own, id)
	return own
}

// Install records the files of a session that a sync has written, and that the store will
// report; nil: none after all.
func (d *DirtySet) Install(id string, files []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.installs[id] = files; files == nil {
		delete(d.installs, id)
	}
}

// isInstalled reports whether a write is a sync's, and removes it from the expected ones.
// d.mu is held.
func (d *DirtySet) isInstalled(id, file string) bool {
	files := d.installs[id]
	i := slices.Index(files, file)
	if i < 0 {
		return false
	}
	if d.installs[id] = slices.Delete(files, i, i+1); len(files) == 1 {
		delete(d.installs, id)
	}
	return true
}
