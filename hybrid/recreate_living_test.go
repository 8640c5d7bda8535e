package hybrid

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func event(text string) string { return fmt.Sprintf("{\"event\": %q}\n", text) }

// twoLogs is a session of two devices, each with a log of its own, that was sent under the
// first rules. Both have the second ones now.
func (c *cloud) twoLogs(t *testing.T) (a, b *testDevice) {
	t.Helper()
	a, b = c.device(t, "a", under(1)), c.device(t, "b", under(1))
	a.say("s", "apple pear plum", "two")
	a.setMember("s", "note", "pear plum")
	a.put("s", "config.md", "pear plum\n")
	a.appendTo("s", "events.jsonl", event("pear plum of a"))
	a.sync()
	b.pull()
	b.appendTo("s", "events.jsonl", event("pear plum of b"))
	b.sync()
	a.pull()
	return c.reopened(t, a, "a", under(2)), c.reopened(t, b, "b", under(2))
}

// logTexts returns the lines of all logs of a session on a device.
func (r *testDevice) logTexts(id string) (all []string) {
	r.t.Helper()
	logs, err := r.Logs(r.t.Context(), id)
	require.NoError(r.t, err)
	for _, l := range logs {
		text, err := os.ReadFile(l.Path)
		require.NoError(r.t, err)
		all = append(all, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	return all
}

// requireBothLogs requires a new device to get each event once, with what rules took out.
func (c *cloud) requireBothLogs(t *testing.T, why string, more ...string) {
	t.Helper()
	fresh := c.device(t, "fresh"+why, under(2))
	fresh.pull("s")
	want := append([]string{"[redacted:word] plum of a", "[redacted:word] plum of b"}, more...)
	for i := range want {
		want[i] = strings.TrimSuffix(event(want[i]), "\n")
	}
	require.ElementsMatch(t, want, fresh.logTexts("s"), why)
	_, err := fresh.Check(t.Context(), "s", nil)
	require.NoError(t, err, why)
}

// TestRecreateOfALivingSession: a device takes out what was sent, with the logs of all
// devices. What they have stays as it is, and they send nothing because of it.
func TestRecreateOfALivingSession(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.twoLogs(t)
	before := c.headOf(t, a.engine.SID("s"))
	require.Equal(t, []string{"pear"}, c.stored(t, "pear"))
	here, there := a.files(), b.files()
	a.recreate("s")
	require.Empty(t, c.stored(t, "pear"))
	h := c.headOf(t, a.engine.SID("s"))
	require.NotEqual(t, before.Born, h.Born)
	require.Equal(t, before.Updated, h.Updated, "it does not move in lists")
	require.Equal(t, "words/2", h.Anew.Rules)
	require.Len(t, h.Logs, 2)
	require.Equal(t, UpToDate, a.state("s").State)
	c.requireBothLogs(t, "")
	for _, d := range []*testDevice{a, b, a, b} {
		require.Zero(t, d.sync().Pushed)
		require.Zero(t, d.pull().Pulled)
		require.Equal(t, UpToDate, d.state("s").State)
	}
	require.Equal(t, here, a.files())
	require.Equal(t, there, b.files())
	a.appendTo("s", "events.jsonl", event("more of a"))
	b.appendTo("s", "events.jsonl", event("more of b"))
	b.say("s", "pear of b")
	require.Equal(t, 1, b.sync().Pushed)
	require.Equal(t, 1, a.sync().Pushed)
	c.requireBothLogs(t, "later", "more of a", "more of b")
	require.Empty(t, c.stored(t, "pear"))
	require.Len(t, c.headOf(t, a.engine.SID("s")).Logs, 2)
}

// TestRecreateBringsTheSession: a device that never had it recreates it.
func TestRecreateBringsTheSession(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.twoLogs(t)
	d := c.device(t, "d", under(2))
	d.recreate("s")
	require.Empty(t, c.stored(t, "pear"))
	require.Equal(t, []string{"[redacted:word] pear plum", "two"}, d.texts("s"), "as it was sent")
	c.requireBothLogs(t, "")
	require.Zero(t, a.sync().Pushed+b.sync().Pushed+d.sync().Pushed)
	require.Equal(t, "[redacted:word] plum\n", c.device(t, "other", under(2)).pulled("s").file("s", "config.md"))
}

func (r *testDevice) pulled(id string) *testDevice { r.pull(id); return r }

// TestRecreateIsRefusedAlive: each reason for which a session stays as the cloud has it.
func TestRecreateIsRefusedAlive(t *testing.T) {
	t.Parallel()
	secrets := func(o *Options) { o.Redact = Secrets() }
	for name, one := range map[string]struct {
		do   func(t *testing.T, c *cloud, a, b *testDevice) *testDevice
		want error
		text string
	}{
		"a branch": {func(_ *testing.T, _ *cloud, a, b *testDevice) *testDevice {
			a.say("s", "of a")
			a.sync()
			b.say("s", "of b")
			b.sync("s")
			return a
		}, ErrDeferred, "no session of its own"},
		"a copy that was removed": {func(t *testing.T, _ *cloud, a, b *testDevice) *testDevice {
			a.say("s", "of a")
			a.sync()
			b.say("s", "of b")
			kept := b.sync("s").Conflicts[0].KeptAs
			b.sync()
			b.remove(kept)
			return a
		}, ErrDeferred, "no session of its own"},
		"in use": {func(t *testing.T, _ *cloud, a, b *testDevice) *testDevice {
			b.say("s", "more")
			b.sync()
			hold, err := a.Acquire(t.Context(), "s", sessionstore.Owner{App: "test"})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, hold.Release()) })
			return a
		}, ErrDeferred, "could not be brought"},
		"a damaged log": {func(t *testing.T, c *cloud, a, b *testDevice) *testDevice {
			b.appendTo("s", "events.jsonl", event("of b"))
			b.sync()
			for _, d := range c.Docs(testDatabase, testContainer) {
				if strings.Contains(d.ID, "-e-"+b.engine.Device.ID) {
					require.NoError(t, c.Remove(testDatabase, testContainer, d.Partition, d.ID))
				}
			}
			return a
		}, ErrDamaged, ""},
		"weaker rules": {func(t *testing.T, c *cloud, a, _ *testDevice) *testDevice {
			a.say("s", "more")
			a.sync()
			a.recreate("s")
			return c.device(t, "plain")
		}, ErrRedaction, ""},
		"local": {func(t *testing.T, _ *cloud, a, _ *testDevice) *testDevice {
			require.NoError(t, a.KeepLocal(t.Context(), "s"))
			return a
		}, ErrLocal, ""},
		"denied": {func(t *testing.T, c *cloud, a, _ *testDevice) *testDevice {
			return c.reopened(t, a, "a", secrets, func(o *Options) { o.Private = []string{"s*"} })
		}, ErrLocal, ""},
		"held": {func(t *testing.T, _ *cloud, a, _ *testDevice) *testDevice {
			a.put("s", "metadata.json", "{")
			require.NoError(t, os.RemoveAll(a.Dir()+"/s/metadata.json.backup"))
			return a
		}, ErrHeld, ""},
		"in neither place": {func(t *testing.T, c *cloud, a, _ *testDevice) *testDevice {
			c.Wipe()
			require.NoError(t, cosmos.Provision(t.Context(), dial(t, c.Server, c.Key()), testDatabase, testContainer))
			return c.device(t, "fresh", secrets)
		}, sessionstore.ErrNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a", secrets), c.device(t, "b", secrets)
			a.say("s", "MARK one", "two")
			a.sync()
			b.pull()
			d := one.do(t, c, a, b)
			before := c.Docs(testDatabase, testContainer)
			err := d.Recreate(t.Context(), "s")
			require.ErrorIs(t, err, one.want)
			require.ErrorContains(t, err, one.text)
			require.NotContains(t, err.Error(), "MARK")
			require.Equal(t, before, c.Docs(testDatabase, testContainer))
		})
	}
}

// TestRecreateAfterTheCopyIsSent: a branch does not come back, since its session is there.
func TestRecreateAfterTheCopyIsSent(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "MARK-one", "two")
	a.sync()
	b.pull()
	a.say("s", "of a")
	a.sync()
	b.say("s", "MARK-b")
	kept := b.sync().Conflicts[0].KeptAs
	b.sync()
	a, b = c.reopened(t, a, "a", with(marked)), c.reopened(t, b, "b", with(marked))
	require.ElementsMatch(t, []string{"s", kept}, b.ids())
	require.NoError(t, a.Recreate(t.Context(), "s", kept))
	require.Empty(t, c.stored(t, "MARK-"))
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
	require.Empty(t, c.headOf(t, a.engine.SID("s")).Histories.Branches)
	require.Equal(t, []string{"MARK-one", "two", "MARK-b"}, b.texts(kept))
	require.Contains(t, b.texts("s"), "of a")
}

// TestRecreateMeetsAnotherHead: a device adds to the session after it was brought. What it
// added is brought, too; where that never ends, nothing is removed.
func TestRecreateMeetsAnotherHead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, b := c.twoLogs(t)
		times, n := 1, 0
		m := &burial{next: c.Transport(), before: func() {
			if n++; n <= times {
				b.say("s", fmt.Sprint("pear ", n))
				b.sync("s")
			}
		}}
		requireClosed(t, a.Store)
		a = c.deviceAt(t, a.Dir(), "a", under(2), through(t, c, m))
		a.recreate("s")
		require.Contains(t, b.texts("s"), "pear 1")
		require.Empty(t, c.stored(t, "pear"))
		b.sync()
		require.Contains(t, a.texts("s"), "[redacted:word] 1")
		require.Zero(t, a.sync().Pushed+b.sync().Pushed)
		times, n = 1000, 0
		before := c.headOf(t, a.engine.SID("s")).Born
		require.ErrorIs(t, a.Recreate(t.Context(), "s"), ErrContended)
		require.Equal(t, before, c.headOf(t, a.engine.SID("s")).Born)
		require.Less(t, n, 10)
		times = 0
		b.sync()
		a.sync()
		c.requireBothLogs(t, "")
		require.Equal(t, len(b.texts("s")), len(a.texts("s")))
	})
}

// burial is a device's way to the cloud, with what happens around requests that make a head
// a tombstone.
type burial struct {
	next          policy.Transporter
	before, after func()
	dead          atomic.Bool // nothing goes through any more
}

func (m *burial) Do(r *http.Request) (*http.Response, error) {
	if m.dead.Load() {
		return nil, errCrash
	}
	body, err := peek(r)
	if err != nil {
		return nil, err
	}
	buries := swap(r, body) && bytes.Contains(body, []byte(`\"deleted\":true`))
	if buries && m.before != nil {
		m.before()
	}
	answer, err := m.next.Do(r)
	if buries && m.after != nil {
		m.after()
	}
	return answer, err
}

// TestRecreateMeetsUnsentLines: a third device wrote on, under the same rules and later ones.
func TestRecreateMeetsUnsentLines(t *testing.T) {
	t.Parallel()
	for rules := 2; rules <= 3; rules++ {
		t.Run(ruleSets[rules].Version(), func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.twoLogs(t)
			d, e := c.device(t, "d", under(1)), c.device(t, "e", under(1))
			d.pull()
			e.pull()
			d, e = c.reopened(t, d, "d", under(rules)), c.reopened(t, e, "e", under(rules))
			d.say("s", "pear of d")
			d.appendTo("s", "events.jsonl", event("pear log of d"))
			e.say("s", "pear of e")
			a.recreate("s")
			require.Empty(t, d.sync("s").Conflicts)
			require.Len(t, e.sync("s").Conflicts, 1, "both went on")
			for _, o := range []*testDevice{a, b, d, e, a, b, d} {
				o.sync("s")
				require.Equal(t, 3, len(o.texts("s")))
			}
			require.Contains(t, a.texts("s"), "[redacted:word] of d")
			require.Empty(t, c.stored(t, "pear"))
			c.requireBothLogs(t, "", "[redacted:word] log of d")
			require.Zero(t, a.sync().Pushed+b.sync().Pushed+d.sync("s").Pushed+e.sync("s").Pushed)
		})
	}
}

// TestRecreateKeepsWhatEarlierRulesTookOut: today's rules find less than those under which
// lines were sent. No device sends them in full, whether it recreates the session or meets
// that.
func TestRecreateKeepsWhatEarlierRulesTookOut(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		for _, by := range []string{"owner", "other"} {
			t.Run(fmt.Sprint("deleted ", deleted, " by ", by), func(t *testing.T) {
				t.Parallel()
				c := newCloud(t, nil)
				a, b := c.device(t, "a", under(1)), c.device(t, "b", under(1))
				a.say("s", "apple pear plum", "two")
				a.appendTo("s", "events.jsonl", event("apple plum"))
				a.setMember("s", "note", "apple plum")
				a.sync()
				b.pull()
				a, b = c.reopened(t, a, "a", under(3)), c.reopened(t, b, "b", under(3))
				here, there := a.files(), b.files()
				one, other := a, b
				if by == "other" {
					one, other = b, a
				}
				if deleted {
					other.remove("s")
				}
				one.recreate("s")
				require.Empty(t, c.stored(t, "apple", "pear", "plum"))
				for range 2 {
					require.Empty(t, other.sync().Conflicts)
					one.sync()
				}
				require.Empty(t, c.stored(t, "apple", "pear", "plum"))
				require.Equal(t, here, a.files())
				require.Equal(t, there, b.files())
				require.Zero(t, a.sync().Pushed+b.sync().Pushed)
			})
		}
	}
}

// buriedBy lets a device begin to recreate a session, and be killed once the head is a
// tombstone. It returns the device as it is started again.
func (c *cloud) buriedBy(t *testing.T, d *testDevice, edit ...func(*Options)) *testDevice {
	t.Helper()
	requireClosed(t, d.Store)
	m := &burial{next: c.Transport()}
	m.after = func() { m.dead.Store(true) }
	killed := c.deviceAt(t, d.Dir(), "a", under(2), through(t, c, m))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	require.Error(t, killed.Recreate(ctx, "s"))
	cancel()
	require.True(t, m.dead.Load())
	requireClosed(t, killed.Store)
	require.True(t, c.headOf(t, d.engine.SID("s")).Deleted)
	return c.deviceAt(t, d.Dir(), "a", append(edit, under(2))...)
}

// directories are copies of those of devices that are closed.
type directories map[string]string

func saveDirs(t *testing.T, dirs ...string) directories {
	t.Helper()
	all := directories{}
	for _, dir := range dirs {
		all[dir] = filepath.Join(t.TempDir(), "saved")
		require.NoError(t, os.CopyFS(all[dir], os.DirFS(dir)))
	}
	return all
}

// restore puts them back.
func (all directories) restore(t *testing.T) {
	t.Helper()
	for dir, saved := range all {
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.CopyFS(dir, os.DirFS(saved)))
	}
}
