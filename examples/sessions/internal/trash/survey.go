package trash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options say how a removal is planned.
type Options struct {
	Why         string        // it is in the receipt
	Descendants bool          // what descends from the sessions goes with them
	Allow       []Hindrance   // that are none
	Quiet       time.Duration // a session that was written more recently is [Recent]; 0: none is

	// Unsynced returns those of ids of which the cloud lacks something, with
	// what it lacks. Nil: nothing is synced.
	Unsynced func(ctx context.Context, ids []string) (map[string]string, error)

	// Progress is told how many of how many sessions were looked at or moved.
	// Nil: nobody is.
	Progress func(done, total int)
}

func (o *Options) progress(done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// Plan is what a removal would do. Nothing is changed before [Plan.Run].
type Plan struct {
	Take []Session // these go
	Keep []Session // these stay, each with its obstacles

	st   *sessionstore.Store
	opts Options
}

// New plans to remove the sessions ids of st. The error Is
// [sessionstore.ErrNotFound] when one is not there.
func New(ctx context.Context, st *sessionstore.Store, ids []string, o Options) (*Plan, error) {
	children, err := relations(ctx, st)
	if err != nil {
		return nil, err
	}
	if o.Descendants {
		ids = children.descendants(ids)
	}
	unsynced := map[string]string{}
	if o.Unsynced != nil {
		if unsynced, err = o.Unsynced(ctx, ids); err != nil {
			return nil, fmt.Errorf("ask what is not synced: %w", err)
		}
	}
	sessions := make([]Session, 0, len(ids))
	for i, id := range ids {
		s, err := look(ctx, st, id, o.Quiet)
		if err != nil {
			return nil, fmt.Errorf("look at session %q: %w", id, err)
		}
		if text, ok := unsynced[id]; ok {
			s.hinder(Unsynced, text)
		}
		sessions = append(sessions, s)
		o.progress(i+1, len(ids))
	}
	p := &Plan{st: st, opts: o}
	p.Take, p.Keep = decide(sessions, children, o.Allow)
	return p, nil
}

// olderSub is the form of older ids of sub-sessions: that of the parent stands
// in front.
var olderSub = regexp.MustCompile(`^(.+)-[0-9a-f]{16}_`)

// relations finds out which sessions descend from which. A session whose
// metadata cannot be read descends from none but by its id.
func relations(ctx context.Context, st *sessionstore.Store) (family, error) {
	infos, err := st.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return nil, err
	}
	named, parents := map[string][]string{}, map[string][]string{} // directories by session_id; parents' names by directory
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

// look tells what a session is and what hinders its removal, but for what its
// relatives and the cloud have to do with it.
func look(ctx context.Context, st *sessionstore.Store, id string, quiet time.Duration) (Session, error) {
	s := Session{ID: id}
	dir := filepath.Join(st.Dir(), id)
	if fi, err := os.Lstat(dir); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		s.hinder(Symlink, "it is a symlink to a directory elsewhere")
		return s, nil
	}
	err := st.Inside().Busy(ctx, id)
	switch {
	case errors.Is(err, sessionstore.ErrLocked), errors.Is(err, sessionstore.ErrFenced):
		s.hinder(Running, err.Error())
		err = nil
	case errors.Is(err, sessionstore.ErrNotFound), errors.Is(err, sessionstore.ErrInvalidID), ctx.Err() != nil:
		return s, err
	}
	if err == nil {
		err = s.measure(dir)
	}
	if err != nil {
		s.hinder(Unreadable, err.Error())
		return s, nil
	}
	if md, err := st.Metadata(ctx, id); err == nil {
		s.Name, s.Created = md.Text("name"), md.Text("created")
	}
	if since := st.Inside().Now().Sub(s.Written); since < quiet {
		s.hinder(Recent, fmt.Sprintf("it was written %s ago", max(since, 0).Round(time.Second)))
	}
	return s, nil
}

func (s *Session) hinder(h Hindrance, text string) {
	s.Obstacles = append(s.Obstacles, Obstacle{h, text})
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
