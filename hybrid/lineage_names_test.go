package hybrid

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parentNames are the ways in which tools name the session that another was made from.
var parentNames = map[string]func(d *testDevice, id, parent string){
	"parent_id":         func(d *testDevice, id, parent string) { d.setMember(id, "parent_id", parent) },
	"parent_session_id": func(d *testDevice, id, parent string) { d.setMember(id, "parent_session_id", parent) },
	"beside null": func(d *testDevice, id, parent string) {
		d.setMember(id, "parent_id", nil)
		d.setMember(id, "parent_session_id", parent)
	},
	"beside another": func(d *testDevice, id, parent string) {
		d.setMember(id, "parent_id", "open")
		d.setMember(id, "parent_session_id", parent)
	},
	"fork": func(d *testDevice, id, parent string) {
		d.setMember(id, "fork", map[string]any{"source_session_id": parent, "through_user_turn": 1})
	},
	"log of events": func(d *testDevice, id, parent string) { d.captured(id, parent) },
}

// TestOtherNamesOfParents: whatever a tool calls it, what is made from a session that
// stays here stays, and what is made from one that nobody knows is held back.
func TestOtherNamesOfParents(t *testing.T) {
	t.Parallel()
	for name, set := range parentNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.say("open", "hello")
			a.say("tax", "text that stays")
			require.NoError(t, a.KeepLocal(t.Context(), "tax"))
			a.say("kid", "text of the kid")
			set(a, "kid", "tax")
			a.say("grandkid", "text of the grandkid")
			set(a, "grandkid", "kid")
			require.Equal(t, 1, a.sync().Pushed)
			for _, id := range []string{"kid", "grandkid"} {
				require.Equal(t, Local, a.state(id).State, id)
			}
			c.requireNoTrace(t, "tax", "kid")

			whole := a.file("grandkid", "metadata.json")
			require.NoError(t, a.Release(t.Context(), "grandkid"))
			require.Equal(t, 1, a.sync().Pushed)
			c.requireNoTrace(t, "tax", `"kid`, `\"kid`)
			require.Equal(t, whole, a.file("grandkid", "metadata.json"))
			require.Zero(t, a.sync().Pushed)

			a.say("imported", "text of the imported")
			set(a, "imported", "elsewhere")
			a.requireHeld("imported")
			c.requireNoTrace(t, "imported", "elsewhere")
		})
	}
}

// TestOddParents: a session whose parent is named by something that is no text is held
// back.
func TestOddParents(t *testing.T) {
	t.Parallel()
	for name, metadata := range map[string]string{
		"parent_id": `{"parent_id": 7}`, "parent_session_id": `{"parent_session_id": ["tax"]}`, "fork": `{"fork": {"source_session_id": {}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var members map[string]any
			require.NoError(t, json.Unmarshal([]byte(metadata), &members))
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.say("kid", "one")
			for member, value := range members {
				a.setMember("kid", member, value)
			}
			a.ruled()
			a.requireHeld("kid")
			require.Empty(t, c.documents())
		})
	}
}

// TestParentThatNoSessionCanBe syncs sessions that name a parent which cannot be an id.
func TestParentThatNoSessionCanBe(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	for i, parent := range []string{strings.Repeat("p", 100<<10), "../up", "a/b", " ", strings.Repeat("ü", 200)} {
		id := fmt.Sprint("child", i)
		a.say(id, "text")
		a.setMember(id, "parent_id", parent)
	}
	require.Equal(t, 5, a.sync().Pushed)
	b.pull()
	require.Equal(t, a.ids(), b.ids())
}
