package sessionstore

import (
	"context"
	"errors"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/store/watch"
)

// Watcher reports the changes in a sessions directory, of all programs. See
// [Store.Watch].
type Watcher struct{ changes *watch.Watcher }

// Watch begins to watch the sessions directory. It returns once the watch is in place, so
// that "watch, then list" misses nothing. The watch lasts until ctx ends, or
// [Watcher.Close] or [Store.Close] is called, whichever is first. Each of them closes the
// watcher, and then [Watcher.Changes] ends. A caller whose ctx ends need not call Close;
// Close still waits for the work in the background.
//
// The watcher reports changes of transcript.jsonl, metadata.json, events.jsonl,
// config.md, phase_outputs.jsonl and session_conversation.jsonl, which this store or any
// program made, in place or by a new file; and sessions that appear or vanish, with an
// empty File. The files of a session that appears are reported as changes of their own.
// The end of an append that was in doubt changes the transcript too. The watcher does not
// report changes of backups, temporary and lock files, nor of sessions whose name begins
// with a dot, as in [Store.List].
//
// A change is seen within two seconds if the file system answers at once, in
// a directory of 10,000 sessions too; on Linux the sessions that changed last
// are seen within a tenth of one. Other systems are polled: macOS because it
// needs a descriptor for every watched file, Windows because a watched
// directory is held open, and that must never be what makes a rename fail.
// Polling opens no session's directory and no file, and takes about 1 % of a
// processor for 1,000 sessions.
//
// On Linux the system watches up to 12,000 directories of sessions for a Watcher, but no
// more than a quarter of fs.inotify.max_user_watches; it keeps about 1 KB for each. These
// cost next to nothing while nothing changes. The Watcher polls the sessions beyond that
// limit, sessions on network and FUSE file systems and on others that are not known to
// report every change, and sessions with a file or directory that is a symlink or a file
// with hard links. In a watched session some changes are seen within a minute only, as
// they have no event: writes through a memory mapping, through a name that a file was
// given elsewhere since the last look, or by another machine to which this one serves the
// files, and mounts over its directory.
//
// A change may be reported twice. A program that reads a file after each report of it has
// the present content in the end; where the watcher cannot ensure that, it reports a
// [Rescan] of everything, with an empty ID. A file that comes and goes between two looks
// is not reported. That holds also when its session is removed and made anew in between,
// since the system may give the new directory the same identity as the old one. So a
// program that reads a file without a report has to check that the file still exists.
func (st *Store) Watch(ctx context.Context) (*Watcher, error) {
	events, err := watch.NewNotifier()
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			st.log.Warn("watching by polling alone", "err", err)
		}
		events = nil
	}
	w, err := st.watch(ctx, events)
	return w, wrap("watch", "", err)
}

// watch is Watch with events, or by polling alone if events is nil. It makes sure that
// events is closed.
func (st *Store) watch(ctx context.Context, events *watch.Notifier) (*Watcher, error) {
	if err := st.admit(ctx); err != nil {
		if events != nil {
			err = joinErrors(err, events.Close())
		}
		return nil, err
	}
	defer st.calls.Done()
	changes, err := st.watchers.Start(ctx, st.base, st.log, events)
	if err != nil {
		return nil, err
	}
	return &Watcher{changes}, nil
}

// Changes yields the changes as they are seen, and waits for them. Pending changes of one
// file are merged into one. The sequence ends when the watcher is closed, by a call or
// because the context of [Store.Watch] ended; changes that are still pending are dropped.
// After a break the next call goes on. It is for one consumer at a time.
func (w *Watcher) Changes() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for {
			c, ok := w.changes.Next()
			if !ok || !yield(Change{ID: c.ID, File: c.File, Op: Op(c.Op)}) {
				return
			}
		}
	}
}

// Close ends the watch and [Watcher.Changes], and waits for the work in the background. A
// second call returns the same, and so does a call after the context of [Store.Watch]
// ended.
func (w *Watcher) Close() error { return wrap("close watcher", "", w.changes.Close()) }
