package conformance

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// idCase makes every call with one id, good or bad.
type idCase struct {
	ID  string `json:"session_id_json"`
	Ops map[string]struct {
		Result *string `json:"result_json"`
		Error  *failure
	}
}

const fresh = "fresh_" // before the name of a call on an empty store

// calls are the calls in the order of the reference's run.
func calls() []string {
	return []string{
		"save", "exists_after_save", "load", "get_metadata", "update_metadata", "save_config_snapshot", "find_session",
		fresh + "exists", fresh + "load", fresh + "get_metadata", fresh + "update_metadata", fresh + "find_session",
	}
}

func (c idCase) run(t *testing.T) verdict {
	require.Len(t, c.Ops, len(calls()))
	id := string(pyjson.AppendText(nil, []byte(c.ID)))
	st, freshStore := newPlace(t).open(t), newPlace(t).open(t)
	reference, ours := map[string]string{}, map[string]string{}
	for _, op := range calls() {
		require.Contains(t, c.Ops, op)
		reference[op] = c.Ops[op].Error.outcome()
		if result := c.Ops[op].Result; result != nil {
			reference[op] = *result
		}
		on := st
		if strings.HasPrefix(op, fresh) {
			on = freshStore
		}
		ours[op] = call(t, on, strings.TrimPrefix(op, fresh), id)
	}
	return judge(reference, ours, func(f *fired) map[string]string {
		p := map[string]string{}
		for _, op := range calls() {
			p[op] = shorten(f, predictCall(f, op, id, reference[op]), string(pyjson.TrimSpace([]byte(id))))
		}
		return p
	})
}

// call returns the result of a call as JSON, or why there is none.
func call(t *testing.T, st *sessionstore.Store, op, id string) string {
	t.Helper()
	ctx := t.Context()
	empty, err := sessionstore.NewMetadata(json.RawMessage("{}"))
	require.NoError(t, err)
	switch op {
	case "save":
		return resultOf(t, "null", st.Save(ctx, id, nil, empty))
	case "exists", "exists_after_save":
		if st.Exists(id) {
			return "true"
		}
		return "false"
	case "load":
		s, err := st.Load(ctx, id)
		if err != nil {
			return outcome(err)
		}
		return "[" + messagesText(t, s.Messages) + ", " + metadataText(t, s.Metadata) + "]"
	case "get_metadata":
		md, err := st.Metadata(ctx, id)
		return resultOf(t, string(md.AppendTo(nil)), err)
	case "update_metadata":
		returned, failed := update(t, st, id, `{"k":1}`)
		return returned + failed
	case "save_config_snapshot":
		return resultOf(t, "null", st.SaveConfig(ctx, id, empty))
	case "find_session":
		found, err := st.Find(ctx, id, nil)
		return resultOf(t, text(found), err)
	}
	return "unknown call " + op
}

func resultOf(t *testing.T, result string, err error) string {
	t.Helper()
	if err != nil {
		return outcome(err)
	}
	return ascii(t, []byte(result))
}

// predictCall returns what a call with id gives, by the rules about ids that
// we refuse. Of all else it has the reference's word.
func predictCall(f *fired, op, id, reference string) string {
	unfit := unrepresentableIDs
	switch {
	case strings.Contains(id, "\x00"), !utf8.ValidString(id):
	case len(id) > 255:
		unfit = longID
	case id == sessiondir.Bookkeeping:
		unfit = reservedID
	default:
		return reference
	}
	if strings.HasPrefix(reference, valueError+"Invalid session_id") || !f.by(unfit) {
		return reference
	}
	switch op {
	case "exists_after_save", fresh + "exists":
		return "false"
	case "find_session", fresh + "find_session":
		return notFound + "No session found matching '" + string(pyjson.TrimSpace([]byte(id))) + "'"
	}
	return invalidID
}

// topLevelCase asks whether an id is one of a top-level session.
type topLevelCase struct {
	ID       string `json:"session_id"`
	Expected bool
}

func (c topLevelCase) run(*testing.T) verdict {
	return equal(c.Expected, sessionstore.IsTopLevel(c.ID))
}

// subIDCase makes the id of a sub-session, of which a part is random.
type subIDCase struct {
	Agent  string `json:"agent_name"`
	Parent string `json:"parent_session_id"`
	Trace  string `json:"parent_trace_id"`
	Span   string `json:"parent_span"`
	Suffix string
}

func (c subIDCase) run(*testing.T) verdict {
	id := sessionstore.NewSubID(c.Parent, c.Agent, c.Trace)
	want := "^" + regexp.QuoteMeta(c.Span) + "-[0-9a-f]{16}_" + regexp.QuoteMeta(c.Suffix) + "$"
	if !regexp.MustCompile(want).MatchString(id) {
		return verdict{err: difference("no rule", want, id)}
	}
	if id == sessionstore.NewSubID(c.Parent, c.Agent, c.Trace) {
		return verdict{err: errors.New("two ids are the same")}
	}
	return verdict{}
}

// slugCase names the project of a directory.
type slugCase struct {
	Dir  string `json:"resolved_cwd"`
	Slug string
}

func (c slugCase) run(*testing.T) verdict {
	return equal(c.Slug, sessionstore.ProjectSlug(c.Dir))
}
