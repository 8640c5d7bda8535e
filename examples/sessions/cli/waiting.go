package cli

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// synced is what "sync" and "pull" did in all projects, and what waits.
type synced struct {
	counted
	Behind   []waiting `json:"behind"`
	Diverged []waiting `json:"diverged"`
	Blocked  []waiting `json:"blocked"`
	Held     []waiting `json:"held"`
	Failed   []waiting `json:"failed"`
	Partial  []waiting `json:"partial"`
	Error    string    `json:"error"`
}

// counted has the members of a result, and not its MarshalJSON.
type counted hybrid.SyncResult

// waiting is a session that was not synced as usual.
type waiting struct {
	Session string  `json:"session_id"`
	Reason  string  `json:"reason"`
	Until   *string `json:"until"`
	Command *string `json:"command"`

	ofRemote bool // the reason is the remote's
}

// newSynced returns the result for no project.
func newSynced() synced {
	return synced{counted{Conflicts: []hybrid.Conflict{}}, []waiting{}, []waiting{}, []waiting{}, []waiting{}, []waiting{}, []waiting{}, ""}
}

// add adds the result for a project.
func (s *synced) add(a *app, r copied, res hybrid.SyncResult) {
	s.Sessions += res.Sessions
	s.Pushed += res.Pushed
	s.Pulled += res.Pulled
	s.Segments += res.Segments
	s.Requests += res.Requests
	s.Bytes += res.Bytes
	s.RequestUnits += res.RequestUnits
	s.Elsewhere += res.Elsewhere
	s.Conflicts = append(s.Conflicts, res.Conflicts...)
	for _, list := range []struct {
		to   *[]waiting
		from []hybrid.Exception
	}{{&s.Behind, res.Behind}, {&s.Diverged, res.Diverged}, {&s.Blocked, res.Blocked}, {&s.Held, res.Held}, {&s.Failed, res.Failed}, {&s.Partial, res.Partial}} {
		for _, x := range list.from {
			*list.to = append(*list.to, waiting{x.SessionID, textOf(x.Err), moment(x.Until.Truncate(time.Second)), known(r.remedy(a, x.SessionID, x.Err)), slices.ContainsFunc(ofRemote, func(is error) bool { return errors.Is(x.Err, is) })})
		}
	}
}

// tellSynced writes the sessions that wait, and the commands that end that. Of one project without
// any session it says why that may be.
func (a *app) tellSynced(of []copied, s *synced) {
	if len(of) == 1 && s.Sessions+s.Elsewhere == 0 && s.Error == "" {
		if here, err := of[0].List(a.ctx, &sessionstore.ListOptions{All: true, Limit: 1}); err == nil && len(here) == 0 {
			a.Printf("  nothing of this project is here, or new in the remote: where other devices have it at another path, give all of them one --as\n")
		}
	}
	told := map[string]bool{}
	for _, c := range s.Conflicts {
		told[c.SessionID] = true
	}
	for _, list := range []struct {
		name string
		all  []waiting
	}{{"later:", s.Behind}, {"later:", s.Diverged}, {"stays there:", s.Blocked}, {"stays:", s.Held}, {"in part:", s.Partial}} {
		for _, w := range list.all {
			if told[w.Session] {
				continue
			}
			line := screen.Plain(w.Reason)
			if w.Until != nil {
				line += ", until " + a.moment(*w.Until)
			}
			if w.Command != nil {
				line += ": " + *w.Command
			}
			a.Printf("  %s %.80s: %s\n", a.Paint(screen.Yellow, list.name), screen.Plain(w.Session), line)
		}
	}
	a.tellConflicts(s.Conflicts)
}

// tellFailed writes the commands for the sessions that failed, but for those whose error is
// the remote's.
func (a *app) tellFailed(all []waiting) {
	for _, w := range all {
		if w.Command != nil && !w.ofRemote {
			a.Notef("  %s: %s", screen.Plain(w.Session), *w.Command)
		}
	}
}

// remedies are the commands that end what a session waits for, by the error that is its
// reason; the first that fits counts. Where an error has none, its text says what to do.
var remedies = []struct {
	of      error
	command string // ID stands for the session's
}{
	{hybrid.ErrHeld, "sessions remote keep-local ID --release"},
	{hybrid.ErrLocal, "sessions remote purge ID"},
	{hybrid.ErrRemoved, "sessions remote recreate ID"},
	{hybrid.ErrFull, "sessions remote prune ID"},
	{hybrid.ErrTakenAway, "sessions undo --drop ID"},
	{hybrid.ErrRedaction, "sessions sync ID --redact"},
	{hybrid.ErrNewer, ""},
	{hybrid.ErrForeign, ""},
	{hybrid.ErrDamaged, "sessions remote check ID --mend"},
	{sessionstore.ErrCorrupt, "sessions repair ID"},
	{hybrid.ErrClock, ""},
	{hybrid.ErrUnauthorized, "sessions remote check"},
	{hybrid.ErrBlocked, "sessions remote check"},
	{hybrid.ErrUnreachable, "sessions sync"},
	{hybrid.ErrContended, "sessions sync ID"},
	{hybrid.ErrDeferred, "sessions sync ID"},
}

// remedy returns the command that ends what a session of r waits for; "" where there is
// none.
func (r copied) remedy(a *app, id string, err error) string {
	command := ""
	for _, m := range remedies {
		if errors.Is(err, m.of) {
			command = m.command
			break
		}
	}
	switch {
	case command == "":
		return ""
	case errors.Is(err, hybrid.ErrHeld):
		if _, torn := r.Metadata(a.ctx, id); errors.Is(torn, sessionstore.ErrCorrupt) {
			command = "sessions repair ID --name=NAME"
		}
	case errors.Is(err, hybrid.ErrDeferred):
		s, _ := r.Load(a.ctx, id)
		if s == nil || s.Recovered == nil {
			break
		}
		if command = "sessions repair ID"; errors.Is(s.Recovered.Reason, sessionstore.ErrCorrupt) {
			command += " --salvage"
		}
	}
	if strings.HasPrefix(id, "-") { // it is no flag
		return strings.Replace(command, " ID", "", 1) + r.flags + " -- " + word(id)
	}
	return strings.Replace(command, "ID", word(id), 1) + r.flags
}

// again returns the flags with which a command is about the same project and remote.
func (f remoteFlags) again(a *app, project string) (flags string) {
	switch {
	case f.AllProjects && project == "":
		flags = " --all-projects"
	case f.Project == "" && !f.AllProjects:
		project = ""
	}
	for _, flag := range [][2]string{{"sessions-root", f.SessionsRoot}, {"project", project}, {"remote", f.Remote}, {"as", f.As}, {"user", f.User}} {
		if flag[1] != "" && flag[1] != a.env("SESSIONS_REMOTE") {
			flags += " --" + flag[0] + "=" + word(flag[1])
		}
	}
	return flags
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// word returns a text as a word of a command line of a shell.
func word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(screen.Plain(text), "'", `'\''`) + "'"
}

// stateCommand returns the command that ends the state of a session; "" where there is none.
func (r copied) stateCommand(a *app, s *hybrid.Status) string {
	switch s.State {
	case hybrid.Pending, hybrid.Behind:
		return cmp.Or(r.remedy(a, s.SessionID, s.Err), "sessions sync"+r.flags)
	case hybrid.Removed:
		return r.remedy(a, s.SessionID, hybrid.ErrRemoved)
	}
	return r.remedy(a, s.SessionID, s.Err)
}
