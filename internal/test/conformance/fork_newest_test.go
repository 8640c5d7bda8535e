package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice"
)

// newestForkCase is a fork as the newest CLI makes it.
type newestForkCase struct {
	ParentID string `json:"parent_id"`
	Parent   files  `json:"parent_files"`
	Turn     *int
	ChildID  string `json:"child_id"`
	From     int    `json:"forked_from_turn"`
	Messages int    `json:"message_count"`
	Child    files  `json:"child_files"`
	Error    *failure
}

type newestFork struct {
	Failed         bool
	Turn, Messages int
	Child          files
}

func (c newestForkCase) run(t *testing.T) verdict {
	p := newProjects(t)
	place := place{dir: p.sessions(), workspace: p.dir}
	place.put(t, c.ParentID, c.Parent)
	st := place.open(t)
	done, err := slice.Fork(t.Context(), st, c.ParentID, &slice.ForkOptions{Turn: c.Turn, NewID: c.ChildID})
	ours := newestFork{Failed: err != nil, Turn: done.Turn, Messages: done.Messages, Child: place.get(t, c.ChildID)}
	require.Equal(t, c.Parent, place.get(t, c.ParentID), "the parent changed")
	reference := newestFork{c.Error != nil, c.From, c.Messages, c.Child}
	return judge(reference, ours, func(f *fired) newestFork {
		if f == nil {
			return reference
		}
		damaged := done.Damage != nil || done.Recovered != nil || done.SkippedLines > 0
		return c.predict(t, f, reference, ours, damaged)
	})
}

// predict tells what this library does otherwise: what of the metadata it adds,
// and which rows it keeps. Where the reference made no fork there is none to
// compare ours with, but for its rows.
func (c newestForkCase) predict(t *testing.T, f *fired, reference, ours newestFork, damaged bool) newestFork {
	t.Helper()
	rows, plain := c.forkedRows(t)
	if slices.ContainsFunc(plain, func(raw string) bool { return len(seen{object: parseObject(raw)}.blocks("tool_result")) > 0 }) && f.by(toolBlocks) {
		return ours
	}
	o := reference
	if reference.Failed {
		if ours.Failed || !c.excuses(f, plain, damaged) {
			return reference
		}
		o = newestFork{Turn: ours.Turn, Messages: len(strings.Split(strings.TrimSpace(rows), "\n")), Child: files{metadataFile: ours.Child[metadataFile]}}
		o.Child[transcriptFile] = rows
		return o
	}
	o.Child = maps.Clone(reference.Child)
	if _, marked := c.Parent[transcriptFile+".append-pending"]; !marked && rows != o.Child[transcriptFile] && f.by(rowsKept) {
		o.Child[transcriptFile] = rows
	}
	dir := parseObject(c.Parent[metadataFile]).get("working_dir")
	if c.Parent[metadataFile] != "" && dir != "null" && f.by(forkWorkingDir) {
		o.Child[metadataFile] = render(parseObject(o.Child[metadataFile]).with("working_dir", dir).String(), pyjson.Style{Indent: 2})
	}
	return o
}

// excuses reports whether there is a reason for which the reference refuses a
// fork that this library makes.
func (c newestForkCase) excuses(f *fired, plain []string, damaged bool) bool {
	md, ok := c.Parent[metadataFile]
	switch {
	case slices.ContainsFunc(plain, hasLone):
		return f.by(surrogateKept)
	case slices.ContainsFunc(plain, func(raw string) bool {
		return strings.Contains(render(raw, pyjson.Style{}), "Infinity")
	}):
		return f.by(rowsKept)
	case damaged, ok && (!isValue(md) || kindOf(md) != pyjson.Object), slices.ContainsFunc(plain, notStrict):
		return f.by(forkRecovers)
	}
	return false
}

// forkedRows returns the transcript that this library makes, and the parent's
// rows.
func (c newestForkCase) forkedRows(t *testing.T) (transcript string, plain []string) {
	t.Helper()
	m := &forkModel{f: &fired{}, forkCase: forkCase{Name: c.ParentID, Parent: c.Parent, Turn: c.Turn, Mode: "complete", NewID: c.ChildID}}
	if m.read() != succeeded {
		return "", nil
	}
	o := forkOutcome{}
	m.fork(t, &o)
	return o.Child[transcriptFile], m.plain
}

// notStrict reports whether the newest tools take a row for damage that an
// older one is content with.
func notStrict(raw string) bool {
	return pyjson.Check([]byte(raw), pyjson.Strict) != nil || stringOf(parseObject(raw).get("role")) == ""
}
