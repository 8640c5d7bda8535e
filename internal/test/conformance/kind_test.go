package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// byKind makes a runner for a file whose cases are of several kinds.
func byKind(runners map[string]runner) runner {
	return func(t *testing.T, raw []byte) verdict {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &members))
		var kind string
		require.NoError(t, json.Unmarshal(members["kind"], &kind))
		run, ok := runners[kind]
		if !ok {
			return verdict{err: fmt.Errorf("unknown kind of case %q", kind)}
		}
		delete(members, "kind")
		rest, err := json.Marshal(members)
		require.NoError(t, err)
		return run(t, rest)
	}
}

// visibilityRunner runs the cases about for whom a session is.
func visibilityRunner() runner {
	return byKind(map[string]runner{
		"creation": of(creationCase.run), "classify": of(classifyCase.run), "list": of(kindsCase.run),
	})
}

// creationCase labels a new session.
type creationCase struct {
	Env      map[string]string
	IsResume bool    `json:"is_resume"`
	Labels   string  `json:"metadata_json"`
	First    content `json:"first_metadata_file"`
}

type creation struct{ Labels, First string }

func (c creationCase) run(t *testing.T) verdict {
	reference := creation{Labels: c.Labels, First: c.First.String()}
	ours := creation{Labels: "{}"}
	if c.IsResume { // which sets none
		return equal(reference, ours)
	}
	labels := sessionstore.NewLabels(func(name string) string { return c.Env[name] })
	var md sessionstore.Metadata
	require.NoError(t, labels.Set(&md))
	ours.Labels = metadataText(t, md)
	if labels.Visibility == "internal" {
		ours.First = firstMetadata(t, md)
	}
	return equal(reference, ours)
}

// firstMetadata is the file of a new session of that metadata.
func firstMetadata(t *testing.T, md sessionstore.Metadata) string {
	t.Helper()
	const id = "s-1"
	require.NoError(t, md.Set("session_id", id))
	require.NoError(t, md.Set("bundle", "anchors"))
	require.NoError(t, md.Set("working_dir", "/some dir"))
	p := newPlace(t)
	require.NoError(t, p.open(t).Save(t.Context(), id, nil, md))
	return p.get(t, id)[metadataFile]
}

// classifyCase tells what a session is.
type classifyCase struct {
	Identity string
	Sources  []string `json:"sources_json"`
	Kind     string   `json:"session_kind"`
	Parent   string
	Error    *failure
}

type classified struct {
	Kind, Parent string
	Failed       bool
}

func (c classifyCase) run(*testing.T) verdict {
	reference := classified{Kind: c.Kind, Parent: c.Parent, Failed: c.Error != nil}
	var sources []sessionstore.Metadata
	for _, raw := range c.Sources {
		md, err := sessionstore.ParseMetadata([]byte(raw))
		if err != nil {
			return equal(reference, classified{Failed: true})
		}
		sources = append(sources, md)
	}
	kind, parent := sessionstore.KindOf(c.Identity, sources...)
	return equal(reference, classified{Kind: kind.String(), Parent: parent})
}

// kindsCase lists sessions and sorts them by their kinds.
type kindsCase struct {
	Sessions map[string]*string
	Mtimes   map[string]float64
	CLI      []string `json:"cli_list"`
	Chats    []string `json:"chat_list"`
	Internal []string
	Workers  []string
}

type kinds struct{ Listed, Chats, Internal, Workers []string }

func (c kindsCase) run(t *testing.T) verdict {
	p := newPlace(t)
	for id, metadata := range c.Sessions {
		f := files{transcriptFile: `{"role": "user", "content": "x"}` + "\n"}
		if metadata != nil {
			f[metadataFile] = *metadata
		}
		p.put(t, id, f)
		at := time.UnixMilli(int64(c.Mtimes[id] * 1000))
		require.NoError(t, os.Chtimes(filepath.Join(p.dir, id), at, at))
	}
	st := p.open(t)
	ours := kinds{[]string{}, []string{}, []string{}, []string{}}
	listed, err := st.List(t.Context(), nil)
	require.NoError(t, err)
	for _, info := range listed {
		ours.Listed = append(ours.Listed, info.ID)
	}
	sorted := map[sessionstore.Kind]*[]string{
		sessionstore.Root: &ours.Chats, sessionstore.Internal: &ours.Internal, sessionstore.Worker: &ours.Workers,
	}
	for _, id := range slices.Sorted(maps.Keys(c.Sessions)) {
		md, err := st.Metadata(t.Context(), id)
		require.NoError(t, err)
		kind, _ := sessionstore.KindOf(id, md)
		*sorted[kind] = append(*sorted[kind], id)
	}
	return equal(kinds{c.CLI, c.Chats, c.Internal, c.Workers}, ours)
}
