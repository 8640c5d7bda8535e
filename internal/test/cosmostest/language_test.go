package cosmostest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// parse reads a query with some parameters.
func parse(text string) (Query, error) {
	return ParseQuery(fmt.Appendf(nil, `{"query":%s,"parameters":[{"name":"@five","value":5},{"name":"@hello","value":"Hello"},`+
		`{"name":"@true","value":true},{"name":"@null","value":null},{"name":"@list","value":[1]}]}`, quoted(text)))
}

func stored(t *testing.T, s string) *version {
	t.Helper()
	d, err := parseDocument([]byte(s))
	require.NoError(t, err)
	return &version{body: d, data: d.json()}
}

// TestWhere compares members of a document with values of their kind and of others.
func TestWhere(t *testing.T) {
	t.Parallel()
	doc := stored(t, `{"id":"x1","n":5,"s":"Hello","t":true,"z":null,"list":[1],"end":7}`).body
	for where, want := range map[string]bool{
		`c.n = 5`: true, `c.n = @five`: true, `c.n = 4`: false, `c.n = '5'`: false, `c.n > -5`: true,
		`c.n < 6`: true, `c.n <= 5`: true, `c.n >= 5`: true, `c.n > 5`: false, `c.n < 5`: false,
		`c.s = 'Hello'`: true, `c.s = @hello`: true, `c.s < 'I'`: true, `c.s > ''`: true, `c.s > 1`: false, `c.s = 'hello'`: false,
		`c.t = 1`: false, `c.z < 1`: false, `c.none < 5`: false, `c.none = ''`: false, `c.list > 'a'`: false, `c["end"] > 6`: true,
	} {
		q, err := parse("SELECT * FROM c WHERE " + where + " ORDER BY c.id")
		require.NoError(t, err, where)
		require.Equal(t, want, q.where[0].holds(doc.get(q.where[0].member)), where)
	}
	q, err := parse(`SELECT * FROM c WHERE c.pk = 'a' AND c["end"] > 6 AND c.pk >= 'b' ORDER BY c.id`)
	require.NoError(t, err)
	require.Equal(t, []filter{{"pk", "=", `"a"`}, {"end", ">", "6"}, {"pk", ">=", `"b"`}}, q.where)
}

// TestRows selects members, and sorts by those that may be missing.
func TestRows(t *testing.T) {
	t.Parallel()
	doc := stored(t, `{"id":"x1","n":5,"o":{"p":1},"end":7}`)
	for columns, want := range map[string]string{
		`*`: `{"id":"x1","n":5,"o":{"p":1},"end":7}`, `c.n`: `{"n":5}`, `c.none`: `{}`,
		`c["end"], c.o, c.none, c.id`: `{"end":7,"o":{"p":1},"id":"x1"}`,
	} {
		q, err := parse("SELECT " + columns + " FROM c WHERE c.n = 5 ORDER BY c.id")
		require.NoError(t, err, columns)
		require.Equal(t, want, string(q.row(doc)), columns)
	}
	docs := []*version{stored(t, `{"n":"b"}`), stored(t, `{"n":2}`), stored(t, `{}`), stored(t, `{"n":10}`)}
	for order, want := range map[string][]int{"c.n": {2, 1, 3, 0}, "c.n DESC": {0, 3, 1, 2}} {
		q, err := parse("SELECT * FROM c WHERE c.n = 1 ORDER BY " + order)
		require.NoError(t, err, order)
		var a answer
		sorted := slices.Clone(docs)
		a.page(&call{}, &q, sorted, 10, cursor{})
		for i, at := range want {
			require.Same(t, docs[at], sorted[i], order)
		}
	}
}

// TestRefusedQueries lists queries that the service may serve, and this server does not.
func TestRefusedQueries(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `SELECT`, `SELECT * FROM c`, `SELECT * FROM c WHERE c.n = 1`, `SELECT * FROM c ORDER BY c.n`,
		`select * from c where c.n = 1 order by c.n`, `SELECT * FROM c  WHERE c.n = 1 ORDER BY c.n`, `SELECT * FROM c WHERE c.n = 1 ORDER BY c.n `,
		`SELECT * FROM d WHERE d.n = 1 ORDER BY d.n`, `SELECT VALUE c.n FROM c WHERE c.n = 1 ORDER BY c.n`, `SELECT TOP 1 * FROM c WHERE c.n = 1 ORDER BY c.n`,
		`SELECT DISTINCT c.n FROM c WHERE c.n = 1 ORDER BY c.n`, `SELECT c.n AS m FROM c WHERE c.n = 1 ORDER BY c.n`, `SELECT COUNT(1) FROM c WHERE c.n = 1 ORDER BY c.n`,
		`SELECT c.n, c.n FROM c WHERE c.n = 1 ORDER BY c.n`, `SELECT c.n, c["n"] FROM c WHERE c.n = 1 ORDER BY c.n`, `SELECT c.o.p FROM c WHERE c.n = 1 ORDER BY c.n`,
		`SELECT * FROM c WHERE c.n = 1 OR c.n = 2 ORDER BY c.n`, `SELECT * FROM c WHERE NOT c.n = 1 ORDER BY c.n`, `SELECT * FROM c WHERE c.n != 1 ORDER BY c.n`,
		`SELECT * FROM c WHERE (c.n = 1) ORDER BY c.n`, `SELECT * FROM c WHERE c.n IN (1) ORDER BY c.n`, `SELECT * FROM c WHERE c.n = c.m ORDER BY c.n`,
		`SELECT * FROM c WHERE c.n = 1.5 ORDER BY c.n`, `SELECT * FROM c WHERE c.n = 'it\'s' ORDER BY c.n`, `SELECT * FROM c WHERE c.n = 'x AND y' ORDER BY c.n`,
		`SELECT * FROM c WHERE c.n = true ORDER BY c.n`, `SELECT * FROM c WHERE c.n = 1 ORDER BY c.n ASC`, `SELECT * FROM c WHERE c.n = 1 ORDER BY c.n, c.m`,
		`SELECT * FROM c WHERE c.n = 1 ORDER BY c.n OFFSET 1 LIMIT 2`, `SELECT * FROM c WHERE c.n = 1 GROUP BY c.n`, `SELECT * FROM c WHERE c.n = @six ORDER BY c.n`,
		`SELECT * FROM c WHERE c.n = @null ORDER BY c.n`, `SELECT * FROM c WHERE c.n = @true ORDER BY c.n`, `SELECT * FROM c WHERE c.n = @list ORDER BY c.n`,
	} {
		_, err := parse(text)
		require.Error(t, err, text)
	}
	for _, body := range []string{
		``, `[]`, `{"query":"SELECT * FROM c WHERE c.n = 1 ORDER BY c.n","parameters":[{"name":"@a","value":1},{"name":"@a","value":1}]}`,
	} {
		_, err := ParseQuery([]byte(body))
		require.Error(t, err, body)
	}
}
