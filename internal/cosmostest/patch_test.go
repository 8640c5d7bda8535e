package cosmostest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatches(t *testing.T) {
	t.Parallel()
	const base = `{"id":"x","pk":"a","n":1,"list":[1,{"k":2}],"o":{"p":1}}`
	tests := map[string]struct {
		ops  string
		want string // "": 400
	}{
		"set at the end":         {`{"op":"set","path":"/list/2","value":3}`, `"list":[1,{"k":2},3]`},
		"set an item":            {`{"op":"set","path":"/list/0","value":9}`, `"list":[9,{"k":2}]`},
		"add before an item":     {`{"op":"add","path":"/list/0","value":9}`, `"list":[9,1,{"k":2}]`},
		"add after the last":     {`{"op":"add","path":"/list/-","value":9}`, `"list":[1,{"k":2},9]`},
		"replace an item":        {`{"op":"replace","path":"/list/0","value":9}`, `"list":[9,{"k":2}]`},
		"remove an item":         {`{"op":"remove","path":"/list/0"}`, `"list":[{"k":2}]`},
		"increment an item":      {`{"op":"incr","path":"/list/0","value":-2.5}`, `"list":[-1.5,{"k":2}]`},
		"inside of an item":      {`{"op":"set","path":"/list/1/k","value":null}`, `"list":[1,{"k":null}]`},
		"inside of an object":    {`{"op":"add","path":"/o/q","value":[]}`, `"o":{"p":1,"q":[]}`},
		"replace a member":       {`{"op":"replace","path":"/n","value":"x"}`, `"n":"x"`},
		"increment what is none": {`{"op":"incr","path":"/m","value":2}`, `"m":2`},
		"two in order":           {`{"op":"set","path":"/n","value":5},{"op":"incr","path":"/n","value":1}`, `"n":6`},
		"set far after the end":  {`{"op":"set","path":"/list/3","value":3}`, ``},
		"replace what is none":   {`{"op":"replace","path":"/m","value":1}`, ``},
		"remove what is none":    {`{"op":"remove","path":"/m"}`, ``},
		"remove no item":         {`{"op":"remove","path":"/list/2"}`, ``},
		"a text as an index":     {`{"op":"set","path":"/list/k","value":1}`, ``},
		"inside of a number":     {`{"op":"set","path":"/n/m","value":1}`, ``},
		"increment a text":       {`{"op":"set","path":"/n","value":"x"},{"op":"incr","path":"/n","value":1}`, ``},
		"increment by a text":    {`{"op":"incr","path":"/n","value":"1"}`, ``},
		"no value":               {`{"op":"set","path":"/n"}`, ``},
		"a path without a slash": {`{"op":"set","path":"n","value":1}`, ``},
		"an empty path":          {`{"op":"set","path":"/","value":1}`, ``},
		"no object":              {`1`, ``},
		"another operation":      {`{"op":"test","path":"/list/0","value":1}`, ``},
		"a bad ttl":              {`{"op":"set","path":"/ttl","value":0}`, ``},
		"eleven":                 {strings.Repeat(`{"op":"incr","path":"/n","value":1},`, 10) + `{"op":"incr","path":"/n","value":1}`, ``},
		"the second fails":       {`{"op":"set","path":"/n","value":5},{"op":"remove","path":"/m"}`, ``},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, _ := open(t, nil, "")
			require.NoError(t, srv.Put("d", "c", base))
			before := string(srv.Docs("d", "c")[0].Body)
			code, _, body := send(t, srv, item("PATCH", "x", `{"operations":[`+tt.ops+`]}`))
			after := string(srv.Docs("d", "c")[0].Body)
			if tt.want == "" {
				require.Equal(t, 400, code, body)
				require.Equal(t, before, after)
				return
			}
			require.Equal(t, 200, code, body)
			require.Contains(t, after, tt.want)
		})
	}
}
