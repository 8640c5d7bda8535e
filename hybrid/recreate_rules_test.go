package hybrid

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// marked are rules that take out what a household marks.
var marked = words{"words/1", []string{"MARK-"}}

func with(r Redactor) func(*Options) { return func(o *Options) { o.Redact = r } }

// files returns the files of the sessions of a device, by path.
func (r *testDevice) files() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	require.NoError(r.t, filepath.WalkDir(r.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, ".sessionstore") {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	}))
	return all
}

// under gives the devices of a household rules.
func (h *household) under(t *testing.T, r Redactor) {
	t.Helper()
	h.a = h.reopened(t, h.a, "a", with(r))
	h.b = h.reopened(t, h.b, "b", with(r), func(o *Options) { o.Conflict = Theirs })
}

// TestRecreateLeavesNoText sends a family anew and reads every document of the container
// back. No file changes, and devices that knew the former forms send and fetch nothing.
func TestRecreateLeavesNoText(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	h := newHousehold(t, c)
	h.b.pull()
	h.a.sync()
	h.under(t, marked)
	a, b := h.a, h.b
	require.Equal(t, h.texts, c.stored(t, h.texts...))
	here, there := a.files(), b.files()
	require.NoError(t, a.Recreate(t.Context(), h.family...))
	require.Empty(t, c.stored(t, "MARK-"))
	for _, d := range []*testDevice{a, b} {
		got := d.sync()
		require.Zero(t, got.Pushed)
		require.Zero(t, d.pull().Pulled)
		require.Zero(t, d.sync().Pushed)
		for _, id := range d.ids() {
			require.Equal(t, UpToDate, d.state(id).State)
			r, err := d.Check(t.Context(), id, nil)
			require.NoError(t, err, "%+v", r)
		}
	}
	require.Equal(t, here, a.files())
	require.Equal(t, there, b.files())

	b.say("s", "b goes on with MARK-")
	require.Equal(t, 1, b.sync().Pushed)
	a.sync()
	require.Equal(t, "b goes on with [redacted:word]", a.texts("s")[len(a.texts("s"))-1])
	require.Empty(t, c.stored(t, "MARK-"))
	fresh := c.device(t, "fresh", with(marked))
	fresh.pull()
	for _, id := range h.family {
		want := strings.ReplaceAll(strings.Join(a.texts(id), "\n"), "MARK-", "[redacted:word]")
		require.Equal(t, want, strings.Join(fresh.texts(id), "\n"), id)
	}
}

// TestRecreateOfAFork: of a session and its fork each is sent anew when it is named.
func TestRecreateOfAFork(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "MARK-one "+noise(6<<10))
	a.sync()
	fork := a.fork("s")
	a.say(fork, "MARK-fork")
	a.child("sub", "s")
	a.say("sub", "MARK-sub")
	a.sync()
	a = c.reopened(t, a, "a", with(marked))
	before := c.documents()
	require.ErrorIs(t, a.Recreate(t.Context(), "unknown"), sessionstore.ErrNotFound)
	require.Error(t, a.Recreate(t.Context()))
	require.Equal(t, before, c.documents())
	a.recreate("s")
	require.Equal(t, []string{"MARK-one", "MARK-fork", "MARK-sub"}, c.stored(t, "MARK-one", "MARK-fork", "MARK-sub"))
	a.recreate(fork)
	require.Equal(t, []string{"MARK-sub"}, c.stored(t, "MARK-one", "MARK-fork", "MARK-sub"))
	a.recreate("sub")
	require.Empty(t, c.stored(t, "MARK-"))
	require.Equal(t, "words/1", c.headOf(t, a.engine.SID(fork)).Anew.Rules)
}

// TestRecreateBesideOtherRules: a device with later rules learns the new forms, one whose rules
// may find less sends nothing more and loses nothing.
func TestRecreateBesideOtherRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b, w := c.device(t, "a", under(1)), c.device(t, "b", under(1)), c.device(t, "w", under(1))
	a.say("s", "apple pear plum", "two", "pear plum")
	a.appendTo("s", "events.jsonl", "{\"event\":\"apple pear plum\"}\n")
	a.setMember("s", "note", "pear plum")
	a.sync()
	b.pull()
	w.pull()
	b.appendTo("s", "events.jsonl", "{\"event\":\"pear plum of b\"}\n")
	b.say("s", "pear plum of b")
	b.sync()
	w.say("s", "not sent")
	a.sync()
	a, b = c.reopened(t, a, "a", under(2)), c.reopened(t, b, "b", under(3))
	owned, brought, weaker := a.files(), b.files(), w.files()
	require.NoError(t, a.Recreate(t.Context(), "s"))
	require.Empty(t, c.stored(t, "pear"))
	require.Equal(t, []string{"plum"}, c.stored(t, "plum"))
	for _, d := range []*testDevice{a, b, a, b} {
		require.Zero(t, d.sync().Pushed)
	}
	require.Equal(t, owned, a.files())
	require.Equal(t, brought, b.files())
	require.Len(t, c.headOf(t, a.engine.SID("s")).Logs, 2, "no log was sent again")
	_, err := w.Sync(t.Context(), "s")
	require.ErrorIs(t, err, ErrRedaction)
	require.Equal(t, weaker, w.files())
	require.Empty(t, c.stored(t, "pear", "not sent"))
	require.ErrorIs(t, w.Recreate(t.Context(), "s"), ErrRedaction)

	b.say("s", "plum later")
	require.Equal(t, 1, b.sync().Pushed)
	a.sync()
	require.Equal(t, []string{"apple pear plum", "two", "pear plum", "pear plum of b", "[redacted:word] later"}, a.texts("s"))
	w = c.reopened(t, w, "w", under(2))
	got := w.sync("s")
	require.Len(t, got.Conflicts, 1, "it added to what b went on from")
	require.Equal(t, []string{"not sent"}, c.stored(t, "not sent", "pear"))
	require.ErrorIs(t, b.Recreate(t.Context(), "s"), ErrDeferred, "what w has kept is not sent yet")
	w.sync()

	require.NoError(t, b.Recreate(t.Context(), "s", got.Conflicts[0].KeptAs))
	require.Empty(t, c.stored(t, "pear", "plum"))
	require.Zero(t, b.sync().Pushed)
}

// TestRecreateMeetsWhatIsNotSent: lines, a rewind and members that wait on a device are
// sent after a Recreate as they would have been before.
func TestRecreateMeetsWhatIsNotSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(d *testDevice)
		want []string
	}{
		"added":    {func(d *testDevice) { d.say("s", "four") }, []string{"X one", "two", "X three", "four"}},
		"rewound":  {func(d *testDevice) { d.cutTo("s", 1) }, []string{"X one"}},
		"rewrote":  {func(d *testDevice) { d.cutTo("s", 1); d.say("s", "MARK-other") }, []string{"X one", "X other"}},
		"repaired": {func(d *testDevice) { d.cutTo("s", 2); d.say("s", "3", "4", "5") }, []string{"X one", "two", "3", "4", "5"}},
		"member":   {func(d *testDevice) { d.setMember("s", "note", "MARK-note") }, []string{"X one", "two", "X three"}},
	} {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " state lost ", lost), func(t *testing.T) {
				t.Parallel()
				cloud := newCloud(t, nil)
				a, b := cloud.device(t, "a"), cloud.device(t, "b")
				a.say("s", "MARK-one", "two", "MARK-three")
				a.setMember("s", "other", "MARK-member")
				a.appendTo("s", "events.jsonl", "{\"event\": \"MARK-event\"}\n")
				a.sync()
				b.pull()
				a, b = cloud.reopened(t, a, "a", with(marked)), cloud.reopened(t, b, "b", with(marked))
				c.do(b)
				if lost && name != "rewound" && name != "repaired" && name != "rewrote" { // without its state it is behind
					requireClosed(t, b.Store)
					forgetStates(t, b)
					b = cloud.deviceAt(t, b.Dir(), "b", with(marked))
				}
				here := b.file("s", "transcript.jsonl")
				require.NoError(t, a.Recreate(t.Context(), "s"))
				require.Empty(t, cloud.stored(t, "MARK-"))
				require.Equal(t, 1, b.sync("s").Pushed)
				require.Zero(t, b.sync("s").Pushed)
				a.sync("s")
				require.Equal(t, here, b.file("s", "transcript.jsonl"))
				require.Equal(t, c.want, clean(a.texts("s")))
				require.Equal(t, c.want, clean(b.texts("s")))
				require.Equal(t, []string{"s"}, b.ids())
				require.Empty(t, cloud.stored(t, "MARK-"))
			})
		}
	}
}

// clean returns texts without what rules take out of those of a household.
func clean(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, strings.NewReplacer("MARK-", "X ", "[redacted:word]", "X ").Replace(text))
	}
	return all
}

// TestRecreateOfLogs: long events are stored as differences, also after a Recreate, and the
// device goes on with its log: another device's first long event is stored whole.
func TestRecreateOfLogs(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	row := noise(20 << 10)
	event := func(i int) string { return fmt.Sprintf("{\"event\": \"MARK-%d\", \"data\": %q}\n", i, row) }
	for i := range 30 {
		a.appendTo("s", "events.jsonl", event(i))
	}
	a.sync()
	b.pull()
	b.appendTo("s", "events.jsonl", event(100))
	b.sync()
	a, b = c.reopened(t, a, "a", with(marked)), c.reopened(t, b, "b", with(marked))
	size := c.size()
	require.NoError(t, b.Recreate(t.Context(), "s"))
	require.Empty(t, c.stored(t, "MARK-"))
	require.Less(t, c.size(), size*11/10)
	for i, d := range []*testDevice{a, b} {
		require.Zero(t, d.sync().Pushed)
		d.appendTo("s", "events.jsonl", event(200+i))
		require.Equal(t, 1, d.sync().Pushed)
	}
	require.Empty(t, c.stored(t, "MARK-"))
	require.Len(t, c.headOf(t, a.engine.SID("s")).Logs, 2)
	require.Less(t, c.size(), size*12/10+len(row))
	a.pull()
	b.pull()
	for _, d := range []*testDevice{a, b} {
		all, err := d.Logs(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, all, 2)
		_, err = d.Check(t.Context(), "s", nil)
		require.NoError(t, err)
	}
}

// size returns how many bytes the documents of the cloud have.
func (c *cloud) size() (n int) {
	for _, d := range c.Docs(testDatabase, testContainer) {
		n += len(d.Body)
	}
	return n
}
