package trash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// quietByDefault is [Options.Quiet] where that is 0.
const quietByDefault = 10 * time.Minute

// Options control a removal. A nil *Options is the zero value.
type Options struct {
	// Reason is kept in the receipt, for people.
	Reason string

	// Descendants takes the sessions along that descend from the named ones.
	Descendants bool

	// Allow lists the kinds of obstacles that do not keep a session. Only
	// [Recent], [Unsynced] and [Parent] can be allowed.
	Allow []Kind

	// Quiet is the time for which a session must not have been written; a
	// session that was written later is [Recent]. Tools that hold no lock show
	// in no other way that they run a session. 0 means 10 minutes; with a
	// negative time no session is recent.
	Quiet time.Duration

	// Unsynced returns the sessions among ids of which the remote lacks a part, each with a
	// text that names the part. Nil means that nothing is synced.
	Unsynced func(ctx context.Context, ids []string) (map[string]string, error)

	// Progress is called after each session that was looked at or moved. Nil
	// is allowed.
	Progress func(done, total int)
}

func (o *Options) progress(done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// Plan is a removal before it is carried out. It changes nothing before [Plan.Delete].
type Plan struct {
	Remove []Session // these go
	Keep   []Session // these stay, each with its obstacles

	st   *sessionstore.Store
	opts Options
}

// NewPlan plans the removal of the sessions ids of st. The error Is
// [sessionstore.ErrNotFound] when one of them does not exist, and
// [sessionstore.ErrInvalidID] when an id is none.
func NewPlan(ctx context.Context, st *sessionstore.Store, ids []string, opts *Options) (*Plan, error) {
	p := &Plan{st: st}
	if opts != nil {
		p.opts = *opts
	}
	children, err := relations(ctx, st)
	if err != nil {
		return nil, err
	}
	if p.opts.Descendants {
		ids = children.descendants(ids)
	}
	unsynced := map[string]string{}
	if p.opts.Unsynced != nil {
		if unsynced, err = p.opts.Unsynced(ctx, ids); err != nil {
			return nil, fmt.Errorf("ask what is not synced: %w", err)
		}
	}
	sessions := make([]Session, 0, len(ids))
	for i, id := range ids {
		s, err := examine(ctx, st, id, cmp.Or(p.opts.Quiet, quietByDefault))
		if err != nil {
			return nil, fmt.Errorf("look at session %q: %w", id, err)
		}
		if text, ok := unsynced[id]; ok {
			s.obstruct(Unsynced, text)
		}
		sessions = append(sessions, s)
		p.opts.progress(i+1, len(ids))
	}
	p.Remove, p.Keep = decide(sessions, children, p.opts.Allow)
	return p, nil
}

// family has the children of each session. Sessions are named by their
// directories.
type family map[string][]string

// descendants returns ids and all sessions that descend from them, each once.
func (f family) descendants(ids []string) []string {
	var all []string
	seen := map[string]bool{}
	for queue := slices.Clone(ids); len(queue) > 0; queue = queue[1:] {
		if !seen[queue[0]] {
			seen[queue[0]] = true
			all = append(all, queue[0])
			queue = append(queue, f[queue[0]]...)
		}
	}
	return all
}

// decide divides sessions into those that go and those that stay. A session
// that stays keeps its ancestors.
func decide(sessions []Session, children family, allow []Kind) (remove, keep []Session) {
	gone := map[string]bool{}
	for _, s := range sessions {
		gone[s.ID] = !s.isBlocked(allow)
	}
	parents := slices.Contains(allow, Parent)
	for changed := true; changed && !parents; {
		changed = false
		for _, s := range sessions {
			if gone[s.ID] && slices.ContainsFunc(children[s.ID], func(c string) bool { return !gone[c] }) {
				gone[s.ID], changed = false, true
			}
		}
	}
	for _, s := range sessions {
		left := slices.DeleteFunc(slices.Clone(children[s.ID]), func(c string) bool { return gone[c] })
		if len(left) > 0 {
			s.Obstacles = append(slices.Clone(s.Obstacles), Obstacle{Parent, childrenText(left)})
		}
		if gone[s.ID] {
			remove = append(remove, s)
		} else {
			keep = append(keep, s)
		}
	}
	return remove, keep
}

func childrenText(children []string) string {
	if len(children) == 1 {
		return "session " + children[0] + " descends from it and would stay"
	}
	return "session " + children[0] + " and others descend from it and would stay"
}

// olderSub matches an older id of a sub-session: it begins with the id of the
// parent.
var olderSub = regexp.MustCompile(`^(.+)-[0-9a-f]{16}_`)

// relations finds the children of each session. For a session whose metadata cannot be
// read, only its id names the parent.
func relations(ctx context.Context, st *sessionstore.Store) (family, error) {
	infos, err := st.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return nil, err
	}
	named, parents := map[string][]string{}, map[string][]string{} // directories by session_id; ids of the parents by directory
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		named[info.ID] = append(named[info.ID], info.ID)
		md, err := st.Metadata(ctx, info.ID)
		if err == nil {
			if id := md.Text("session_id"); id != info.ID {
				named[id] = append(named[id], info.ID)
			}
			if parent := md.Text("parent_id"); parent != "" {
				parents[info.ID] = append(parents[info.ID], parent)
			}
		}
		if m := olderSub.FindStringSubmatch(info.ID); m != nil && len(parents[info.ID]) == 0 {
			parents[info.ID] = append(parents[info.ID], m[1])
		}
	}
	children := family{}
	for _, info := range infos {
		for _, name := range parents[info.ID] {
			for _, dir := range named[name] {
				if dir != info.ID {
					children[dir] = append(children[dir], info.ID)
				}
			}
		}
	}
	return children, nil
}

// Kind is a kind of obstacle.
type Kind string

// The kinds of obstacles. [Options.Allow] can name the last three.
const (
	Running    Kind = "running"    // a program runs the session
	Symlink    Kind = "symlink"    // the directory is a symlink
	Unreadable Kind = "unreadable" // the directory cannot be read
	Recent     Kind = "recent"     // the session was written within Options.Quiet
	Unsynced   Kind = "unsynced"   // the remote lacks a part of the session
	Parent     Kind = "parent"     // a session that descends from this one stays
)

// CanAllow reports whether [Options.Allow] may name the kind.
func (k Kind) CanAllow() bool { return k == Recent || k == Unsynced || k == Parent }

// An Obstacle is a reason why a session stays.
type Obstacle struct {
	Kind Kind   `json:"hindrance"`
	Text string `json:"text"` // for people; it has no content of the session
}

// Session is a session that a removal is about.
type Session struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	Created  string    `json:"created,omitempty"` // as the metadata say it
	Modified time.Time `json:"modified"`          // time of the directory
	Written  time.Time `json:"written"`           // time of the newest file; of the directory when it has no file
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`

	// Obstacles are the reasons why the session stays, or the obstacles in spite of which
	// it goes.
	Obstacles []Obstacle `json:"obstacles,omitempty"`
}

// Bytes returns the size of all files of sessions.
func Bytes(sessions []Session) (n int64) {
	for _, s := range sessions {
		n += s.Bytes
	}
	return n
}

// isBlocked reports whether a session has an obstacle that allow does not name.
func (s *Session) isBlocked(allow []Kind) bool {
	return slices.ContainsFunc(s.Obstacles, func(o Obstacle) bool {
		return !o.Kind.CanAllow() || !slices.Contains(allow, o.Kind)
	})
}

func (s *Session) obstruct(k Kind, text string) {
	s.Obstacles = append(s.Obstacles, Obstacle{k, text})
}

// examine returns session id with its obstacles, without Parent and Unsynced.
func examine(ctx context.Context, st *sessionstore.Store, id string, quiet time.Duration) (Session, error) {
	s := Session{ID: id}
	dir := filepath.Join(st.Dir(), id)
	if fi, err := os.Lstat(dir); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		s.obstruct(Symlink, "it is a symlink to a directory elsewhere")
		return s, nil
	}
	err := core.Of(st).Busy(ctx, id)
	switch {
	case errors.Is(err, sessionstore.ErrLocked), errors.Is(err, sessionstore.ErrFenced):
		s.obstruct(Running, err.Error())
		err = nil
	case errors.Is(err, sessionstore.ErrNotFound), errors.Is(err, sessionstore.ErrInvalidID), ctx.Err() != nil:
		return s, err
	}
	if err == nil {
		err = s.measure(dir)
	}
	if err != nil {
		s.obstruct(Unreadable, err.Error())
		return s, nil
	}
	if md, err := st.Metadata(ctx, id); err == nil {
		s.Name, s.Created = md.Text("name"), md.Text("created")
	}
	if since := core.Of(st).Now().Sub(s.Written); since < quiet {
		s.obstruct(Recent, "it was written "+ago(since))
	}
	return s, nil
}

// ago returns a duration in words, as "5 m ago".
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d m ago", d/time.Minute)
	}
	return fmt.Sprintf("%d h ago", d/time.Hour)
}

// measure counts the files of a session's directory.
func (s *Session) measure(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	s.Modified, s.Written = fi.ModTime(), time.Time{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file of a writer
		}
		if err != nil {
			return err
		}
		s.Files++
		s.Bytes += fi.Size()
		if fi.ModTime().After(s.Written) {
			s.Written = fi.ModTime()
		}
		return nil
	})
	if s.Files == 0 {
		s.Written = s.Modified
	}
	return err
}
