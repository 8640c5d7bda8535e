package foreign

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	_ "unsafe" // for linkname

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"import": importForever, "grow": growForever, "large": importLarge, "pictured": importPictured})
}

func openProjects(t testing.TB) *projects.Projects {
	t.Helper()
	p, err := projects.Open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func corpus(t testing.TB) []History {
	t.Helper()
	var all []History
	for _, tool := range Tools() {
		for _, home := range []string{filepath.Join("testdata", string(tool)), filepath.Join("testdata", "facts", string(tool))} {
			found, err := Find(t.Context(), tool, &FindOptions{Home: home})
			require.NoError(t, err)
			all = append(all, found...)
		}
	}
	return all
}

// ofImage reports whether a refusal is of an image: those stay what they were in the tool.
func ofImage(r accept.Refusal) bool { return strings.Contains(string(r.Reason), "image") }

// healthy checks that a session can be resumed with every provider but for its images, and that its
// messages are what a store would write.
func healthy(t testing.TB, st *sessionstore.Store, id string) []sessionstore.Message {
	t.Helper()
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	require.Nil(t, s.Recovered)
	d, err := slice.Diagnose(s.Messages)
	require.NoError(t, err)
	require.True(t, d.Healthy(), "%+v", d)
	for _, p := range []accept.Provider{accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses, accept.Gemini} {
		require.Empty(t, slices.DeleteFunc(accept.Check(p, s.Messages), ofImage), p.String())
	}
	return s.Messages
}

// shown returns the sessions of a store for people to compare.
func shown(t testing.TB, st *sessionstore.Store, report *Report) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "lines %d, branches without a prompt %d\nleft %v\nblocks %v\nunknown %v\ndamaged %v\n",
		report.Lines, report.Branches, report.Left, report.Blocks, report.Unknown, report.Damaged)
	for _, s := range report.Sessions {
		fmt.Fprintf(&b, "\n%s %s %s %d\n", s.Kind, s.ID, s.Action, s.Messages)
		md, err := st.Metadata(t.Context(), s.ID)
		require.NoError(t, err)
		b.Write(append(md.AppendTo(nil), '\n'))
		for _, m := range healthy(t, st, s.ID) {
			b.Write(append(m.AppendTo(nil), '\n'))
		}
		rows, err := os.ReadFile(filepath.Join(st.Dir(), s.ID, "import", "map.jsonl"))
		require.NoError(t, err)
		b.Write(rows)
	}
	return b.String()
}

// TestCorpus imports each history of the corpus and compares all that came out.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, h := range corpus(t) {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := openProjects(t)
			report, err := Import(t.Context(), p, h, nil)
			golden := filepath.Join("testdata", "golden", filepath.Base(h.ID)+".txt")
			if err != nil {
				require.ErrorIs(t, err, ErrEmpty)
				require.NoFileExists(t, golden)
				return
			}
			require.Equal(t, h.Project(), report.Project)
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			got := shown(t, st, report)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)

			infos, err := st.List(t.Context(), nil)
			require.NoError(t, err)
			require.LessOrEqual(t, len(infos), len(report.Sessions))
			require.Equal(t, original(t, h.Path), unpacked(t, st, report.Sessions[0].ID))

			again, err := Import(t.Context(), p, h, nil)
			require.NoError(t, err)
			require.Equal(t, len(report.Sessions), len(again.Sessions))
			for i, s := range again.Sessions {
				require.Equal(t, report.Sessions[i].ID, s.ID)
				require.Equal(t, Unchanged, s.Action)
			}
		})
	}
}

// TestTwoDevices compares what two imports of one history make.
func TestTwoDevices(t *testing.T) {
	t.Parallel()
	var trees []map[string]string
	for range 2 {
		p := openProjects(t)
		for _, h := range corpus(t) {
			_, err := Import(t.Context(), p, h, nil)
			if err != nil {
				require.ErrorIs(t, err, ErrEmpty)
			}
		}
		trees = append(trees, tree(t, p.Dir()))
	}
	require.Equal(t, slices.Sorted(maps.Keys(trees[0])), slices.Sorted(maps.Keys(trees[1])))
	require.Equal(t, trees[0], trees[1])
}

// openSeamed is [projects.Open] with a seam, which sees every operation that changes the
// disk and may delay it or let it fail.
//
//go:linkname openSeamed github.com/amplifier-go/sessionstorage/sessionstore/projects.open
func openSeamed(dir string, opts *sessionstore.Options, hooks *seam.Seam) (*projects.Projects, error)
