package cosmostest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type parameters map[string]any

// asked returns the body of a query.
func asked(t *testing.T, text string, values parameters) []byte {
	t.Helper()
	type parameter struct {
		Name  string `json:"name"`
		Value any    `json:"value"`
	}
	body := struct {
		Query      string      `json:"query"`
		Parameters []parameter `json:"parameters"`
	}{Query: text}
	for name, v := range values {
		body.Parameters = append(body.Parameters, parameter{name, v})
	}
	out, err := json.Marshal(body)
	require.NoError(t, err)
	return out
}

const (
	head   = "SELECT c.id, c.label, c.type, c.v, c._etag, c._ts FROM c WHERE c.pk = @pk AND c.id > @after"
	before = " AND c.id < @end"
	since  = " AND c._ts >= @since"
	tail   = " ORDER BY c.id"
)

func TestQueries(t *testing.T) {
	t.Parallel()
	end, at := "b", int64(7)
	for text, want := range map[string]struct {
		values parameters
		query
	}{
		head + tail:                  {parameters{"@pk": "p", "@after": "a"}, query{part: "p", after: "a"}},
		head + before + tail:         {parameters{"@pk": "p", "@after": "", "@end": "b"}, query{part: "p", end: &end}},
		head + since + tail:          {parameters{"@pk": "", "@after": "a", "@since": 7}, query{after: "a", since: &at}},
		head + before + since + tail: {parameters{"@pk": "p", "@after": "a", "@end": "b", "@since": 7}, query{"p", "a", &end, &at}},
	} {
		q, err := parseQuery(asked(t, text, want.values))
		require.NoError(t, err, text)
		require.Equal(t, want.query, q, text)
	}
}

// TestRefusedQueries changes the text of each query somewhere, or its parameters.
func TestRefusedQueries(t *testing.T) {
	t.Parallel()
	given := parameters{"@pk": "p", "@after": "a", "@end": "b", "@since": 7}
	whole := head + before + since + tail
	refused := func(why, text string, values parameters) {
		_, err := parseQuery(asked(t, text, values))
		require.ErrorContains(t, err, why, "%s %v", text, values)
	}
	for i := range whole {
		refused("not the one", whole[:i]+whole[i+1:], given)
		refused("not the one", whole[:i]+"_"+whole[i:], given)
	}
	for _, text := range []string{
		"", whole + " DESC", whole + " ASC", whole + " OFFSET 1 LIMIT 2", whole + ";", whole + whole, strings.ToLower(whole),
		head + since + before + tail, head + before + before + tail, head, before + tail, head + " AND c.n = @n" + tail,
		strings.Replace(whole, "c.v, ", "", 1), strings.Replace(whole, "c.v", "c.n", 1), strings.Replace(whole, "c.id", "TOP 1 c.id", 1),
		strings.Replace(whole, "@pk", "'p'", 1), strings.Replace(whole, " AND", " OR", 1), strings.Replace(whole, "ORDER BY c.id", "ORDER BY c._ts", 1),
		"SELECT * FROM c WHERE c.pk = @pk ORDER BY c.id", "SELECT VALUE COUNT(1) FROM c", "SELEKT",
	} {
		refused("not the one", text, given)
	}
	for name := range given {
		for _, v := range []any{nil, true, 1.5, []int{1}, map[string]int{}, map[bool]any{true: "7", false: 7}[name == "@since"]} {
			values := parameters{}
			for other, v := range given {
				values[other] = v
			}
			values[name] = v
			refused("parameter "+name+" is of another type", whole, values)
		}
		values := parameters{"@other": 1}
		refused("parameter @other is given twice, or not a part", whole, values)
		for other, v := range given {
			if values[other] = v; other == name {
				delete(values, other)
			}
		}
		delete(values, "@other")
		refused("parameter "+name+" is missing", whole, values)
	}
	refused("not a part of it", head+tail, given)
	for body, why := range map[string]string{
		"": "no query with parameters", "[]": "no query with parameters", `{"query":7}`: "no query with parameters", `{}`: "not the one",
		`{"query":"` + head + tail + `","parameters":[{"name":"@pk","value":"p"},{"name":"@after","value":"a"},{"name":"@pk","value":"p"}]}`: "parameter @pk is given twice",
		`{"query":"` + head + tail + `","parameters":[{"name":"@pk"},{"name":"@after","value":"a"}]}`:                                        "another type",
		`{"query":"` + head + tail + `","parameters":[{"name":"@pk","value":"\ud800"}]}`:                                                     "another type",
	} {
		_, err := parseQuery([]byte(body))
		require.ErrorContains(t, err, why, body)
	}
}
