package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// cloudCommands are the commands about the copy in a remote.
type cloudCommands struct {
	Sync   syncCommand   `cmd:"" group:"Remote" help:"Bring sessions into step with a remote, both ways."`
	Pull   pullCommand   `cmd:"" group:"Remote" help:"Bring sessions of other devices here."`
	Status statusCommand `cmd:"" group:"Remote" help:"Show which sessions the remote has, without asking it."`
	Remote remoteCommand `cmd:"" group:"Remote" help:"Add, check, copy and remove remotes; look into one, restore, prune or purge what it has."`
}

const cloudHelp = `"sessions remote add --help" shows what can be a remote. A project is known there by the name of its directory, which tells its path: where devices have it at different paths, give all of them one --as. The settings of "remote add" count for "delete" too, which keeps what the remote lacks.`

// cloudFlags say what of which copy a command is about.
type cloudFlags struct {
	local
	Remote      string `env:"SESSIONS_REMOTE" placeholder:"NAME" help:"Remote that was added, or its URL (SESSIONS_REMOTE; default: the only one)." group:"Remote"`
	AllProjects bool   `help:"All projects that are here, not the working directory's alone." group:"Where"`
	account
}

// account are the flags that "remote add" records.
type account struct {
	As     string `placeholder:"NAME" help:"Name of the project in the remote (default: the name of its directory)." group:"Remote"`
	User   string `placeholder:"NAME" help:"Owner of the sessions in the remote (default: nobody in particular)." group:"Remote"`
	Redact bool   `help:"Replace what looks like a secret before it is sent. All devices must do the same." group:"Remote"`
}

// copied is a project with its copy in the remote.
type copied struct {
	*hybrid.Store
	project string   // its directory's name
	ids     []string // of the sessions that a command is about; none: all
}

// open opens the projects that the flags name. With make, a project that does not
// exist is made. Without asking, the command makes no request.
func (f cloudFlags) open(a *app, asking, make bool, told func(hybrid.Status)) ([]copied, error) {
	if f.AllProjects && f.As != "" {
		return nil, usageError{"--as names one project, not all"}
	}
	set, err := a.named(f.Remote)
	if err != nil {
		return nil, err
	}
	dirs, err := f.dirs(a, make)
	if err != nil {
		return nil, err
	}
	at, err := set.open(a, asking)
	if err != nil {
		return nil, err
	}
	limits := &hybrid.Limits{}
	var all []copied
	for _, dir := range dirs {
		project := filepath.Base(filepath.Dir(dir))
		o := f.options(set, project)
		o.Remote, o.Limits, o.OnStatus = at, limits, told
		st, err := hybrid.Open(a.ctx, dir, o)
		if err != nil {
			return nil, err
		}
		a.later(st.Close)
		all = append(all, copied{Store: st, project: project})
	}
	return all, nil
}

// options returns the options of a project's copy, from the flags and the settings.
func (f account) options(set setting, project string) *hybrid.Options {
	o := &hybrid.Options{Project: cmp.Or(f.As, set.Projects[project], project), User: cmp.Or(f.User, set.User), Manual: true}
	if f.Redact || set.Redact {
		o.Redact = hybrid.Secrets()
	}
	return o
}

// dirs returns the sessions directories that the flags name.
func (f cloudFlags) dirs(a *app, make bool) (dirs []string, err error) {
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
	slug, err := where(f.local).slug(p.Dir(), true)
	if !make {
		slug, err = where(f.local).existing(a, p, true)
	}
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(p.Dir(), slug, "sessions")
	if !make && !isDir(dir) {
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
			return nil, notInCloud(ref)
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
	there := make([]string, len(listed))
	for i, s := range listed {
		there[i] = s.SessionID
	}
	ref = elidedIn(ref, there)
	var ids []string
	for _, s := range listed {
		switch {
		case s.SessionID == ref:
			return ref, nil
		case !s.Removed && strings.HasPrefix(s.SessionID, ref):
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

// notInCloud returns the error for a session that is neither here nor in the remote.
func notInCloud(ref string) error {
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
