package syncer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// star is rules that take a word out.
func star(text string) string { return strings.ReplaceAll(text, "apple", "***") }

func TestOwnText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, own, came, want string }{
		{"the same", `{"a":"apple"}`, `{"a":"***"}`, `{"a":"apple"}`},
		{"nothing was taken out", `{"a":1}`, `{"a": "***"}`, `{"a": "***"}`},
		{"other spaces", "{\"a\": \"apple\", \"b\": 1}\n", " {\"a\":\"***\",\"b\":2} ", " {\"a\":\"apple\",\"b\":2} "},
		{"other order", `{"a":"apple","b":"apple b"}`, `{"b":"*** b","c":1,"a":"***"}`, `{"b":"apple b","c":1,"a":"apple"}`},
		{"changed by both", `{"a":"apple"}`, `{"a":"pear ***"}`, `{"a":"pear ***"}`},
		{"removed", `{"a":"apple","b":1}`, `{"b":1}`, `{"b":1}`},
		{"another kind", `{"a":{"b":"apple"}}`, `{"a":["***"]}`, `{"a":["***"]}`},
		{"no object any more", `{"a":"apple"}`, `***`, `***`},
		{"names", `{"apple":"apple","b":1}`, `{"b":2,"***":3}`, `{"b":2,"apple":3}`},
		{"members of one name", `{"a":"apple 1","a":"apple 2"}`, `{"a":"*** 1","a":"*** 2","b":1}`, `{"a":"apple 1","a":"apple 2","b":1}`},
		{"arrays in arrays", `[["apple"],[1],["apple",2]]`, `[["***"],[3],["***",4]]`, `[["apple"],[3],["apple",4]]`},
		{"added in front", `["apple 1","apple 2"]`, `[ "x" ,"*** 1", "*** 2" ]`, `[ "x" ,"apple 1", "apple 2" ]`},
		{"an element of another", `[{"n":1,"k":"apple"},{"n":2}]`, `[{"n":3,"k":"***"}]`, `[{"n":3,"k":"***"}]`},
		{"empty", `{"a":"apple"}`, ``, ``},
		{"lines", "apple\ntwo\napple pie\n", "two\n*** pie\nend", "two\napple pie\nend"},
		{"lines alike", "apple\nx\napple\n", "***\n***\n", "apple\napple\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, string(ownText([]byte(c.own), []byte(star(c.own)), []byte(c.came))))
		})
	}
}

// TestOwnTextAtRandom edits what left of random values. What stands here then leaves as
// what came, and members that nobody edited stand here as they did.
func TestOwnTextAtRandom(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	text := func(v any, indent bool) string {
		out, err := json.Marshal(v)
		if indent {
			out, err = json.MarshalIndent(v, "", "  ")
		}
		require.NoError(t, err)
		return string(out)
	}
	for range 5000 {
		own := text(randomValue(r, 4), r.IntN(2) == 0)
		var edited any
		require.NoError(t, json.Unmarshal([]byte(star(own)), &edited))
		edited = edit(r, edited)
		came := text(edited, r.IntN(2) == 0)
		got := string(ownText([]byte(own), []byte(star(own)), []byte(came)))
		require.Equal(t, came, star(got), own)
		var was, is any
		require.NoError(t, json.Unmarshal([]byte(own), &was))
		require.NoError(t, json.Unmarshal([]byte(got), &is))
		requireOwn(t, was, is)
	}
}

// requireOwn requires that no member of objects is the image of what it was.
func requireOwn(t *testing.T, was, is any) {
	t.Helper()
	here, ok := was.(map[string]any)
	now, also := is.(map[string]any)
	if !ok || !also {
		if text, is := is.(string); is {
			own, same := was.(string)
			require.False(t, same && own != text && star(own) == text, text)
		}
		return
	}
	for name, value := range now {
		if own, ok := here[name]; ok {
			requireOwn(t, own, value)
		}
	}
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for i := range 1 + r.IntN(4) {
			m[fmt.Sprint("m", i)] = randomValue(r, depth-1)
		}
		return m
	case n == 3 && depth > 0:
		var a []any
		for range r.IntN(4) {
			a = append(a, randomValue(r, depth-1))
		}
		return a
	case n < 6:
		return fmt.Sprint("apple ", r.IntN(4))
	case n == 6:
		return r.IntN(3)
	}
	return fmt.Sprint("plain ", r.IntN(3))
}

// edit changes some part of a value.
func edit(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		name := fmt.Sprint("m", r.IntN(6))
		switch old, ok := v[name]; {
		case ok && r.IntN(4) == 0:
			delete(v, name)
		case ok:
			v[name] = edit(r, old)
		default:
			v[name] = "new"
		}
		return v
	case []any:
		if len(v) > 0 && r.IntN(2) == 0 {
			i := r.IntN(len(v))
			v[i] = edit(r, v[i])
			return v
		}
		return append(v, "new")
	}
	return "edited"
}
