package writertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at returns a time so many steps after the beginning of a made-up history.
func at(step int) time.Time {
	if step == 0 {
		return time.Time{}
	}
	return time.Unix(1_800_000_000, 0).Add(time.Duration(step) * time.Second)
}

func ours(row string, begin, end int) *Call {
	return &Call{Side: Ours, Kind: "Append", Row: row, Begin: at(begin), End: at(end)}
}

func theirs(row string, begin, save, end int) *Call {
	return &Call{Side: Theirs, Kind: "save", Row: row, Begin: at(begin), Save: at(save), Rename: at(end - 1), End: at(end)}
}

func set(rows ...string) map[string]bool {
	m := map[string]bool{}
	for _, row := range rows {
		m[row] = true
	}
	return m
}

func reads(begin, end int, rows ...string) Read {
	return Read{Reader: "r", Begin: at(begin), End: at(end), Rows: rows}
}

// TestJudge gives the judge made-up histories.
func TestJudge(t *testing.T) {
	t.Parallel()
	early, during, save := ours("early", 1, 2), ours("during", 4, 6), theirs("saved", 3, 5, 10)
	between := ours("between", 4, 5)
	between.End = at(4).Add(time.Millisecond)
	after := ours("after", 9, 20) // under way when the tool renames
	attempt := &Call{Side: Ours, Begin: at(4), End: at(12), void: true}
	looks := func(save *Call, main, backup map[string]bool) []look {
		return []look{{save: save, at: at(30), main: main, other: backup}}
	}
	tests := []struct {
		name string
		h    *History
		want Figures
	}{
		{"all is there", &History{calls: []*Call{early, save}, looks: looks(save, set("f", "early", "saved"), nil)}, Figures{Rows: 2, Apart: 2}},
		{"all is in the backup", &History{calls: []*Call{early, save}, looks: looks(save, set("saved"), set("f", "early"))}, Figures{Rows: 2, Apart: 2}},
		{"the first row is gone", &History{calls: []*Call{save}, looks: looks(save, set("saved"), nil)}, Figures{Rows: 1, Apart: 1, Lost: 1}},
		{"a row that nothing overlapped is gone", &History{calls: []*Call{early, save}, looks: looks(save, set("f", "saved"), set("f"))}, Figures{Rows: 2, Apart: 2, Lost: 1}},
		{"a row that a save overlapped is gone", &History{calls: []*Call{during, save}, looks: looks(save, set("f", "saved"), set("f"))}, Figures{Rows: 2, Gone: 1}},
		{"a row from between load and save is gone", &History{calls: []*Call{between, save}, looks: looks(save, set("f", "saved"), set("f"))}, Figures{Rows: 2, Lost: 1}},
		{"the same, with another writer at the end", &History{calls: []*Call{between, save, after}, looks: looks(save, set("f", "saved", "after"), set("f", "saved"))}, Figures{Rows: 3, Gone: 1}},
		{"the last save has no effect", &History{calls: []*Call{save}, looks: looks(save, set("f"), set("f", "saved"))}, Figures{Rows: 1, Apart: 1, Usurp: 1}},
		{"another came after it", &History{calls: []*Call{save, after}, looks: looks(save, set("f", "after"), set("f", "saved"))}, Figures{Rows: 2}},
		{"both files are torn", &History{calls: []*Call{early}, looks: looks(nil, nil, nil)}, Figures{Rows: 1, Apart: 1, Lost: 2}},
		{"what was not acknowledged may be missing", &History{calls: []*Call{ours("never", 1, 0)}, looks: looks(nil, set("f"), nil)}, Figures{}},
		{"an attempt is no excuse for a loss", &History{calls: []*Call{attempt, save}, looks: looks(nil, set("f"), nil)}, Figures{Rows: 1, Apart: 1, Lost: 1}},
		{"a read of all", &History{calls: []*Call{early}, reads: []Read{reads(3, 4, "f", "early")}}, Figures{Rows: 1, Apart: 1, Reads: 1}},
		{"a shorter read", &History{calls: []*Call{early}, reads: []Read{reads(3, 4, "f")}}, Figures{Rows: 1, Apart: 1, Reads: 1, Short: 1}},
		{"a read without the first row", &History{reads: []Read{reads(3, 4, "x")}}, Figures{Reads: 1, Short: 1}},
		{"a read that began before", &History{calls: []*Call{early}, reads: []Read{reads(1, 4, "f")}}, Figures{Rows: 1, Apart: 1, Reads: 1}},
		{"a shorter read that a save excuses", &History{calls: []*Call{during, save}, reads: []Read{reads(11, 12, "f", "saved")}}, Figures{Rows: 2, Reads: 1}},
		{"a shorter read during an attempt", &History{calls: []*Call{attempt, save}, reads: []Read{reads(11, 13, "f")}}, Figures{Rows: 1, Apart: 1, Reads: 1}},
		{"a shorter read after an attempt", &History{calls: []*Call{attempt, save}, reads: []Read{reads(13, 14, "f")}}, Figures{Rows: 1, Apart: 1, Reads: 1, Short: 1}},
		{"an empty read", &History{reads: []Read{reads(1, 2)}}, Figures{Reads: 1, Empty: 1}},
		{"a missing transcript", &History{reads: []Read{{Main: Missing, Rows: []string{"f"}}}}, Figures{Reads: 1, Absent: 1}},
		{"a torn transcript", &History{reads: []Read{{Main: Torn, Rows: []string{"f"}}}}, Figures{Reads: 1, Torn: 1}},
		{"an error", &History{reads: []Read{{Err: os.ErrInvalid}}}, Figures{Reads: 1, Failed: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.h.First = "f"
			got := tt.h.Judge()
			require.Len(t, got.Findings, got.Broken())
			got.Findings = nil
			require.Equal(t, tt.want, got)
			total := Figures{}
			total.Add(got)
			total.Add(got)
			require.Equal(t, 2*tt.want.Broken(), total.Broken())
		})
	}
}

// TestHistory records what a tool does and looks at the files after its save.
func TestHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const first = `{"n": 1}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, Transcript), []byte(first+"\n"), 0o600))
	h := History{Dir: dir, First: first}
	require.NoError(t, h.Theirs(&OldTool{Dir: dir}, `{"n": 2}`))
	require.NoError(t, h.Ours("rewrite", `{"n": 3}`, func(c *Call) error {
		h.Again(c)
		return os.WriteFile(filepath.Join(dir, Transcript), []byte(Content([]string{first, `{"n": 3}`})), 0o600)
	}))
	h.Last()
	f := h.Judge()
	require.Equal(t, []string{`at the end: {"n": 2} of save of the tool is gone, which nobody's save overlapped`}, f.Findings)
	require.Equal(t, Figures{Rows: 2, Apart: 2, Lost: 1, Reads: 1, Findings: f.Findings}, f)
	require.InDelta(t, 1, f.ApartShare(), 0)
	require.Zero(t, f.GoneShare())
	require.Contains(t, f.String(), "1 lost without excuse")
}
