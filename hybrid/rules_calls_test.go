package hybrid

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// keepers make a session that was sent one that stays here, each by another rule.
var keepers = map[string]func(t *testing.T, c *cloud, d *testDevice) *testDevice{
	"local only": func(t *testing.T, _ *cloud, d *testDevice) *testDevice {
		require.NoError(t, d.KeepLocal(t.Context(), "s"))
		return d
	},
	"id": func(t *testing.T, c *cloud, d *testDevice) *testDevice {
		return c.reopened(t, d, "a", func(o *Options) { o.Private = []string{"s"} })
	},
	"name": func(t *testing.T, c *cloud, d *testDevice) *testDevice {
		d.setMember("s", "name", "Tax 2026")
		return c.reopened(t, d, "a", func(o *Options) { o.Private = []string{"Tax *"} })
	},
	"parent": func(t *testing.T, _ *cloud, d *testDevice) *testDevice {
		require.NoError(t, d.KeepLocal(t.Context(), "p"))
		d.setMember("s", "parent_id", "p")
		return d
	},
}

// TestRepairAndRestoreAskTheRules: a session that stays here since it was sent, is
// neither repaired in the cloud nor restored there. It can be read and removed there.
func TestRepairAndRestoreAskTheRules(t *testing.T) {
	t.Parallel()
	for name, keep := range keepers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.say("p", "text of p")
			for i := range 4 {
				a.say("s", noise(200<<10), numbered("turn ", i, i+1)[0])
				a.sync("s")
			}
			a.cutTo("s", 6)
			a.sync("s")
			branches, err := a.Histories(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, branches, 1)
			harm(t, c, "gone")
			a = keep(t, c, a)
			before := c.Docs(testDatabase, testContainer)

			r, err := a.Check(t.Context(), "s", &CheckOptions{Mend: true})
			require.ErrorIs(t, err, ErrLocal)
			require.Zero(t, r.Mended)
			require.ErrorIs(t, a.Restore(t.Context(), "s", branches[0]), ErrLocal)
			require.Len(t, a.texts("s"), 6)
			_, err = a.Check(t.Context(), "s", nil)
			require.ErrorIs(t, err, ErrDamaged, "it sends nothing")
			_, err = a.Histories(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, before, c.Docs(testDatabase, testContainer))

			require.NoError(t, a.Delete(t.Context(), "s"))
			require.ErrorIs(t, a.Restore(t.Context(), "s", branches[0]), ErrLocal, "also when it is not here")
			require.NoError(t, a.Remove(t.Context(), "s"))
			require.Equal(t, map[string]int{"head": 1, "cat": 1}, c.documents())
			c.requireNoTrace(t, "Tax", `"p"`)
		})
	}
}

// TestRemoveOfWhatStaysHere: what stays here can be removed from the cloud, and
// nothing that was written since goes there.
func TestRemoveOfWhatStaysHere(t *testing.T) {
	t.Parallel()
	for name, keep := range keepers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.say("s", "one")
			a.sync()
			a = keep(t, c, a)
			a.say("s", "text of later")
			require.Zero(t, a.sync("s").Pushed)
			c.requirePlain(t, []string{"one"}, []string{"later"}) // what was sent stays until then
			require.NoError(t, a.Remove(t.Context(), "s"))
			require.Equal(t, map[string]int{"head": 1, "cat": 1}, c.documents())
			c.requireNoTrace(t, "later", "Tax", `"p"`)
			require.Equal(t, Local, a.state("s").State)
			require.Equal(t, []string{"one", "text of later"}, a.texts("s"))
		})
	}
}

// TestRepairAndRestoreAskTheRulesOfRedaction: a program without the rules of the
// directory, or of the session, stores nothing.
func TestRepairAndRestoreAskTheRulesOfRedaction(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"directory", "session", "held"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a", under(1))
			for i := range 4 {
				a.say("s", noise(200<<10), numbered("turn ", i, i+1)[0])
				a.sync("s")
			}
			a.cutTo("s", 6)
			a.sync("s")
			branches, err := a.Histories(t.Context(), "s")
			require.NoError(t, err)
			want := ErrRedaction
			switch where {
			case "directory":
				a = c.reopened(t, a, "a")
			case "session":
				a = c.device(t, "b")
				a.pull()
			case "held":
				want = ErrHeld
				a.put("s", "metadata.json", `{"name": "Tax`)
				require.NoError(t, os.RemoveAll(filepath.Join(a.Dir(), "s", "metadata.json.backup")))
			}
			harm(t, c, "gone")
			before := c.Docs(testDatabase, testContainer)
			r, err := a.Check(t.Context(), "s", &CheckOptions{Mend: true})
			require.ErrorIs(t, err, want)
			require.Zero(t, r.Mended)
			if where != "held" { // Restore syncs before, which takes the metadata of the cloud
				require.ErrorIs(t, a.Restore(t.Context(), "s", branches[0]), want)
			}
			require.Equal(t, before, c.Docs(testDatabase, testContainer))
		})
	}
}
