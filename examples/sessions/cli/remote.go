package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const remoteHelp = `"sessions remote add --help" shows what can be a remote. A project is known there by the name of its directory, which tells its path: where devices have it at different paths, give all of them one --as. The settings of "remote add" count for "delete" too, which keeps what the remote lacks.`

// remoteFlags say what of which copy a command is about.
type remoteFlags struct {
	local
	Remote      string `env:"SESSIONS_REMOTE" placeholder:"NAME" help:"Remote that was added, or its URL (SESSIONS_REMOTE; default: the only one)." group:"Remote"`
	AllProjects bool   `help:"All projects that are here, not the working directory's alone." group:"Where"`
	recorded
}

// recorded are the flags that "remote add" records.
type recorded struct {
	As     string `placeholder:"NAME" help:"Name of the project in the remote (default: the name of its directory)." group:"Remote"`
	User   string `placeholder:"NAME" help:"Owner of the sessions in the remote (default: nobody in particular)." group:"Remote"`
	Redact bool   `help:"Replace what looks like a secret before it is sent. All devices must do the same." group:"Remote"`
}

// of takes the name of a remote that was added from the beginning of a command's arguments, and
// returns the others, which name sessions. With --remote all of them do.
func (f *remoteFlags) of(a *app, args []string) []string {
	all, _, err := a.settings()
	if err != nil || len(args) == 0 || f.Remote != a.env("SESSIONS_REMOTE") ||
		!slices.ContainsFunc(all, func(s setting) bool { return s.Name == args[0] }) {
		return args
	}
	f.Remote = args[0]
	return args[1:]
}

// copied is a project with its copy in the remote.
type copied struct {
	*hybrid.Store
	project string   // its directory's name
	flags   string   // of a command about the same project and remote
	ids     []string // of the sessions that a command is about; none: all
}

// use is the use that a command makes of projects and their copies.
type use uint8

const (
	recalls use = iota // makes no request
	asks               // is about projects that are here
	looks              // also about a project that is not here, and makes none
	brings             // makes such a project
)

// open opens the projects that the flags name.
func (f remoteFlags) open(a *app, as use, told func(hybrid.Status)) ([]copied, error) {
	if f.AllProjects && f.As != "" {
		return nil, usageError{"--as names one project, not all"}
	}
	set, err := a.named(f.Remote)
	if err != nil {
		return nil, err
	}
	dirs, err := f.dirs(a, as >= looks)
	if err != nil {
		return nil, err
	}
	at, identity, err := set.open(a, as >= asks)
	if err != nil {
		return nil, err
	}
	limits := &hybrid.Limits{}
	var all []copied
	for _, dir := range dirs {
		project := filepath.Base(filepath.Dir(dir))
		o := f.options(set, project)
		o.Store, o.Remote, o.Identity, o.Limits, o.OnStatus = a.storeOptions(), at, identity, limits, told
		o.Store.OnChange = func(c sessionstore.Change) { // which the sync alone makes here
			if c.File == "config.md" {
				a.Notef("%s the config.md of %s is that of another device now", a.PaintError(screen.Yellow, "note:"), screen.Plain(c.ID))
			}
		}
		if as == looks && !isDir(dir) {
			if dir, err = os.MkdirTemp("", "sessions-"); err != nil {
				return nil, err
			}
			a.later(func() error { return os.RemoveAll(dir) })
		}
		st, err := hybrid.Open(a.ctx, dir, o)
		if err != nil {
			return nil, err
		}
		a.later(st.Close)
		all = append(all, copied{Store: st, project: project, flags: f.again(a, project)})
	}
	return all, nil
}

// options returns the options of a project's copy, from the flags and the settings.
func (f recorded) options(set setting, project string) *hybrid.Options {
	o := &hybrid.Options{Project: cmp.Or(f.As, set.Projects[project], project), User: cmp.Or(f.User, set.User), Manual: true}
	if f.Redact || set.Redact {
		o.Redact = hybrid.Secrets()
	}
	return o
}

// dirs returns the sessions directories that the flags name; absent also one that is not there.
func (f remoteFlags) dirs(a *app, absent bool) (dirs []string, err error) {
	p, err := a.projects(where(f.local))
	if err != nil {
		return nil, err
	}
	if f.AllProjects {
		slugs, err := p.Slugs(a.ctx)
		for _, slug := range slugs {
			dirs = append(dirs, filepath.Join(p.Dir(), slug, "sessions"))
		}
		return dirs, err
	}
	slug, err := where(f.local).slug(a, p, true)
	if !absent {
		slug, err = where(f.local).existing(a, p, true)
	}
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(p.Dir(), slug, "sessions")
	if !absent && !isDir(dir) {
		return nil, nil
	}
	return []string{dir}, nil
}

// choose sets the ids of each project to the sessions that refs mean, and leaves out
// the projects without such a session. Without refs it returns all unchanged: the
// command is about all sessions of all projects.
func (a *app) choose(all []copied, refs []string) ([]copied, error) {
	if len(refs) == 0 {
		return all, nil
	}
	found := make([][]string, len(all))
	for _, ref := range refs {
		known := false
		for i, r := range all {
			id, err := r.meant(a, ref)
			if errors.Is(err, sessionstore.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			known = true
			found[i] = append(found[i], id)
		}
		if !known {
			return nil, notThere(ref)
		}
	}
	var chosen []copied
	for i, r := range all {
		if r.ids = found[i]; len(r.ids) > 0 {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

// meant returns the id of the session of r that ref means. A ref is a whole id, or the
// beginning of the id of a session that is here or in the remote's list. The error Is
// [sessionstore.ErrNotFound] when there is no such session.
func (r copied) meant(a *app, ref string) (string, error) {
	if ref == "" {
		return "", noSession(ref)
	}
	if r.Exists(ref) {
		return ref, nil
	}
	listed, err := r.Remote(a.ctx)
	if err != nil {
		return "", err
	}
	var there, ids []string
	for _, s := range listed {
		there = append(there, s.SessionID)
	}
	if ref = elidedIn(ref, there); slices.Contains(there, ref) {
		return ref, nil
	}
	for _, s := range listed {
		if !s.Removed && strings.HasPrefix(s.SessionID, ref) {
			ids = append(ids, s.SessionID)
		}
	}
	id, err := r.Find(a.ctx, ref, &sessionstore.ListOptions{All: true})
	switch ambiguous := (*sessionstore.AmbiguousError)(nil); {
	case errors.As(err, &ambiguous):
		ids = append(ids, ambiguous.Matches...)
	case err == nil:
		ids = append(ids, id)
	case !errors.Is(err, sessionstore.ErrNotFound):
		return "", err
	}
	slices.Sort(ids)
	switch ids = slices.Compact(ids); len(ids) {
	case 0:
		_, err := r.Preview(a.ctx, ref) // the list may lack what another device sent just now
		if errors.Is(err, sessionstore.ErrNotFound) {
			return "", noSession(ref)
		}
		return ref, nil
	case 1:
		return ids[0], nil
	}
	return besideSubs("", &sessionstore.AmbiguousError{Prefix: ref, Matches: ids})
}

// notThere returns the error for a session that is neither here nor in the remote.
func notThere(ref string) error {
	return noSession(ref) + `, here or in the remote; "sessions remote show" lists what is there`
}

// whole returns an error unless each ref is the whole id of its session.
func whole(refs, ids []string) error {
	for i, ref := range refs {
		if ref != ids[i] {
			return fmt.Errorf("%s means %s: what cannot be taken back takes whole ids", screen.Plain(ref), screen.Plain(ids[i]))
		}
	}
	return nil
}

// stores opens the projects that w names: one, or all. closed joins the errors of the
// projects that cannot be read.
func (a *app) stores(w where) (all []*sessionstore.Store, closed, err error) {
	p, err := a.known(w)
	if err != nil {
		return nil, nil, err
	}
	slugs, err := p.Slugs(a.ctx)
	if err != nil {
		return nil, nil, err
	}
	slug, err := w.existing(a, p, false)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slugs {
		if slug != "" && name != slug {
			continue
		}
		st, err := p.Store(name)
		if err != nil {
			closed = errors.Join(closed, err)
			continue
		}
		all = append(all, st)
	}
	return all, closed, nil
}

// unsynced returns a function that returns the sessions of st of which the remote lacks
// something, each with a text about that. It returns nil when no remote is configured.
// The function makes no request.
func (a *app) unsynced(st *sessionstore.Store) func(ctx context.Context, ids []string) (map[string]string, error) {
	set, err := a.named(a.env("SESSIONS_REMOTE"))
	if errors.Is(err, errNoRemote) {
		return nil
	}
	return func(ctx context.Context, ids []string) (map[string]string, error) {
		all, err := map[string]string{}, err // of this call
		if err == nil {
			err = a.lacking(ctx, set, st.Dir(), ids, all)
		}
		if err != nil {
			return nil, fmt.Errorf("%w. \"sessions delete --even=unsynced\" does without", err)
		}
		return all, nil
	}
}

// lacking adds to all the sessions of ids, in the sessions directory dir, of which the remote
// lacks something, each with a text about that.
func (a *app) lacking(ctx context.Context, set setting, dir string, ids []string, all map[string]string) (err error) {
	o := recorded{}.options(set, filepath.Base(filepath.Dir(dir)))
	if o.Remote, o.Identity, err = set.open(a, false); err != nil {
		return err
	}
	st, err := hybrid.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for _, id := range ids {
		found, err := st.Status(ctx, id)
		if errors.Is(err, sessionstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if text := lacks(&found[0]); text != "" {
			all[id] = text
		}
	}
	return nil
}

// lacks returns a text about the part of a session that the remote lacks, "" when it
// lacks nothing.
func lacks(s *hybrid.Status) string {
	switch s.State {
	case hybrid.Pending, hybrid.Deferred, hybrid.Blocked:
		if s.Local > s.Remote {
			return fmt.Sprintf("the remote lacks %s of it", count(s.Local-s.Remote, "message"))
		}
		return "the remote lacks something of it"
	case hybrid.Removed:
		return "it was deleted in the remote: this is the last copy"
	}
	return ""
}
