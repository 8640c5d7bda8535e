package cosmossql_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/cosmossql"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

var values = []cosmossql.Param{
	{Name: "@five", Value: json.RawMessage(`5`)},
	{Name: "@hello", Value: json.RawMessage(`"Hello"`)},
	{Name: "@true", Value: json.RawMessage(`true`)},
	{Name: "@null", Value: json.RawMessage(`null`)},
	{Name: "@list", Value: json.RawMessage(`[1]`)},
}

func object(t *testing.T, s string) *jsondoc.Object {
	t.Helper()
	o, err := jsondoc.ParseObject([]byte(s))
	require.NoError(t, err)
	return o
}

func parse(t *testing.T, text string) *cosmossql.Query {
	t.Helper()
	q, err := cosmossql.Parse(text, values)
	require.NoError(t, err, text)
	return q
}

// TestWhere compares members of a document with values of their type and of others.
func TestWhere(t *testing.T) {
	t.Parallel()
	doc := object(t, `{"id":"x1","n":5,"s":"Hello","t":true,"z":null,"list":[1],"end":7}`)
	for where, want := range map[string]bool{
		`c.n = 5`: true, `c.n = @five`: true, `c.n = 4`: false, `c.n = '5'`: false, `c.n > -5`: true,
		`c.n < 6`: true, `c.n <= 5`: true, `c.n >= 5`: true, `c.n > 5`: false, `c.n < 5`: false,
		`c.s = 'Hello'`: true, `c.s = @hello`: true, `c.s < 'I'`: true, `c.s > ''`: true, `c.s > 1`: false, `c.s = 'hello'`: false,
		`c.t = @true`: true, `c.z = @null`: true, `c.z = @true`: false, `c.z <= @null`: true,
		`c.none = @null`: false, `c.none < 5`: false, `c.list = @list`: false, `c["end"] > 6`: true,
		`c.n = 5 AND c.s = 'Hello'`: true, `c.n = 5 AND c.s = 'x'`: false, `c.n = 4 AND c.none = 1`: false,
	} {
		q := parse(t, "SELECT * FROM c WHERE "+where+" ORDER BY c.id")
		require.Equal(t, want, q.Keep(doc), where)
	}
	q := parse(t, `SELECT * FROM c WHERE c.pk = 'a' AND c["end"] > 6 AND c.pk >= 'b' ORDER BY c.id`)
	require.Equal(t, []string{"pk", "end", "pk"}, q.Filters())
}

// TestRows selects members, and sorts by those that may be missing.
func TestRows(t *testing.T) {
	t.Parallel()
	doc := object(t, `{"id":"x1","n":5,"o":{"p":1},"end":7}`)
	for columns, want := range map[string]string{
		`*`: `{"id":"x1","n":5,"o":{"p":1},"end":7}`, `c.n`: `{"n":5}`, `c.none`: `{}`,
		`c["end"], c.o, c.none, c.id`: `{"end":7,"o":{"p":1},"id":"x1"}`,
	} {
		row := parse(t, "SELECT "+columns+" FROM c WHERE c.n = 5 ORDER BY c.id").Row(doc)
		require.Equal(t, want, string(jsondoc.Append(nil, row)), columns)
	}
	docs := []*jsondoc.Object{object(t, `{"n":"b"}`), object(t, `{"n":2}`), object(t, `{}`), object(t, `{"n":10}`)}
	for order, want := range map[string][]int{"c.n": {2, 1, 3, 0}, "c.n DESC": {0, 3, 1, 2}} {
		q := parse(t, "SELECT * FROM c WHERE c.n = 1 ORDER BY "+order)
		got := []int{0, 1, 2, 3}
		slices.SortFunc(got, func(a, b int) int { return q.Compare(q.Key(docs[a]), q.Key(docs[b])) })
		require.Equal(t, want, got, order)
	}
}

// TestRefused lists queries that the service may serve, and this package does not.
func TestRefused(t *testing.T) {
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
	} {
		_, err := cosmossql.Parse(text, values)
		require.Error(t, err, text)
	}
	for _, list := range [][]cosmossql.Param{
		{{Name: "@a", Value: json.RawMessage(`{`)}},
		{{Name: "@a", Value: json.RawMessage(`1`)}, {Name: "@a", Value: json.RawMessage(`1`)}},
	} {
		_, err := cosmossql.Parse(`SELECT * FROM c WHERE c.n = 1 ORDER BY c.n`, list)
		require.Error(t, err)
	}
}
