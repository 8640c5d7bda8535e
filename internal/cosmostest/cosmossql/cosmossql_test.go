package cosmossql_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/cosmossql"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

const sample = `{"id":"x1","n":5,"f":0.5,"s":"Hello","t":true,"z":null,"list":[1,"a",{"k":1}],"o":{"p":{"q":7},"order":1},"a-b":3}`

func object(t *testing.T, s string) *jsondoc.Object {
	o, err := jsondoc.ParseObject([]byte(s))
	require.NoError(t, err)
	return o
}

// TestExpressions evaluates expressions on the sample; "" is undefined.
func TestExpressions(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`c.n`: `5`, `c.o.p.q`: `7`, `c["a-b"]`: `3`, `c.list[1]`: `"a"`, `c.list[2].k`: `1`, `c.list[9]`: ``, `c.none`: ``,
		`c.n.none`: ``, `c.o.order`: `1`, `c["o"]['p'].q`: `7`, `c.list[0.5]`: ``, `c.list["a"]`: ``,
		`1 + 2 * 3 - 4 / 2`: `5`, `(1 + 2) * 3`: `9`, `-c.n`: `-5`, `- -3`: `3`, `7 % 4`: `3`, `1 / 0`: ``, `c.s + 1`: ``,
		`c.s || ' you'`: `"Hello you"`, `c.s || 1`: ``, `c.n -1`: `4`,
		`c.n = 5`: `true`, `c.n = '5'`: ``, `c.n != 4`: `true`, `c.n <> 5`: `false`, `c.none = 1`: ``, `c.none = c.none`: ``,
		`c.z = null`: `true`, `c.z = c.n`: ``, `c.t = true`: `true`, `c.t != false`: `true`,
		`c.o.p = {"q": 7}`: `true`, `c.list = [1, "a", {"k": 1}]`: `true`, `c.list = []`: `false`,
		`c.n < 6`: `true`, `c.n >= 5`: `true`, `c.n > 5`: `false`, `c.s < 'I'`: `true`, `c.s < 1`: ``, `c.list < []`: ``, `false < true`: `true`,
		`c.none < 5`: ``, `c.none = 1 OR c.n = 5`: `true`, `c.none = 1 AND c.n = 4`: `false`, `c.none = 1 AND c.n = 5`: ``,
		`c.none = 1 OR c.n = 4`: ``, `NOT c.n = 4`: `true`, `NOT c.none`: ``, `NOT NOT c.t`: `true`, `NOT c.s`: ``, `c.n AND true`: ``,
		`true OR false AND false`: `true`, `(true OR false) AND false`: `false`,
		`c.n IN (1, 5)`: `true`, `c.n IN (1, 2)`: `false`, `c.n NOT IN (1, 2)`: `true`, `c.n IN ('5')`: ``, `c.n IN ('5', 5)`: `true`,
		`c.n BETWEEN 5 AND 6`: `true`, `c.n NOT BETWEEN 5 AND 6`: `false`, `c.n BETWEEN 6 AND 7`: `false`, `c.none BETWEEN 1 AND 2`: ``,
		`c.s LIKE 'H%o'`: `true`, `c.s LIKE 'H_llo'`: `true`, `c.s LIKE 'h%'`: `false`, `c.s LIKE '%l%l%'`: `true`, `c.s LIKE ''`: `false`,
		`'a%b' LIKE 'a!%b' ESCAPE '!'`: `true`, `'axb' LIKE 'a!%b' ESCAPE '!'`: `false`, `c.n LIKE '5'`: ``, `c.s NOT LIKE 'x'`: `true`,
		`STARTSWITH(c.s, 'He')`: `true`, `startswith(c.s, 'he')`: `false`, `STARTSWITH(c.s, 'he', true)`: `true`, `STARTSWITH(c.n, 'H')`: ``,
		`ENDSWITH(c.s, 'lo')`: `true`, `CONTAINS(c.s, 'ell')`: `true`, `CONTAINS(c.s, 'ELL', true)`: `true`, `CONTAINS(c.s, 'ELL', false)`: `false`,
		`LOWER(c.s)`: `"hello"`, `UPPER(c.s)`: `"HELLO"`, `LENGTH('é🙂')`: `2`, `LENGTH(1)`: ``, `ABS(-1)`: `1`, `FLOOR(1.5)`: `1`, `CEILING(1.5)`: `2`, `ABS('a')`: ``,
		`IS_DEFINED(c.z)`: `true`, `IS_DEFINED(c.none)`: `false`, `IS_NULL(c.z)`: `true`, `IS_NULL(c.none)`: `false`,
		`IS_STRING(c.s)`: `true`, `IS_NUMBER(c.n)`: `true`, `IS_BOOL(c.t)`: `true`, `IS_ARRAY(c.list)`: `true`, `IS_OBJECT(c.o)`: `true`, `IS_STRING(c.n)`: `false`,
		`ARRAY_CONTAINS(c.list, 'a')`: `true`, `ARRAY_CONTAINS(c.list, 'b')`: `false`, `ARRAY_CONTAINS(c.list, {"k":1})`: `true`, `ARRAY_CONTAINS(c.n, 1)`: ``,
		`ARRAY_LENGTH(c.list)`: `3`, `ARRAY_LENGTH(c.n)`: ``,
		`@five = c.n`: `true`, `ARRAY_CONTAINS(@ids, c.id)`: `true`, `@o.p`: `1`,
		`'it\'s \u0041\n'`: `"it's A\n"`, `"dq"`: `"dq"`, `1.5e2`: `150`, `undefined`: ``, `[1, undefined, 2]`: `[1,2]`, `{a: 1, "b": c.none, "c": c.n}`: `{"a":1,"c":5}`, `[]`: `[]`, `{}`: `{}`,
	}
	params := []cosmossql.Param{
		{Name: "@five", Value: json.RawMessage(`5`)}, {Name: "@ids", Value: json.RawMessage(`["x1"]`)}, {Name: "@o", Value: json.RawMessage(`{"p":1}`)},
	}
	doc := object(t, sample)
	for text, want := range tests {
		q, err := cosmossql.Parse("SELECT VALUE "+text+" FROM c", params)
		require.NoError(t, err, text)
		row, ok := q.Row(doc)
		got := ""
		if ok {
			got = string(jsondoc.Append(nil, row))
		}
		require.Equal(t, want, got, text)

		q, err = cosmossql.Parse("SELECT * FROM c WHERE "+text, params)
		require.NoError(t, err, text)
		require.Equal(t, want == `true`, q.Keep(doc), text)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`SELECT * FROM c`:                                         sample,
		`select c.id, c.none, c.o.p from c`:                       `{"id":"x1","p":{"q":7}}`,
		`SELECT c.id AS a, c.n b, c.n + 1, c.list[0] FROM c`:      `{"a":"x1","b":5,"$3":6,"$4":1}`,
		`SELECT VALUE {"id": c.id} FROM c`:                        `{"id":"x1"}`,
		`SELECT VALUE c FROM c`:                                   sample,
		`SELECT r.id FROM root AS r`:                              `{"id":"x1"}`,
		`SELECT r.id FROM root r WHERE r.n = 5`:                   `{"id":"x1"}`,
		"SELECT\n\tc.id\nFROM c":                                  `{"id":"x1"}`,
		`SELECT c.order, c["value"], c.o.order FROM c WHERE true`: ``,
	}
	doc := object(t, sample)
	for text, want := range tests {
		q, err := cosmossql.Parse(text, nil)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.True(t, q.Keep(doc))
		row, ok := q.Row(doc)
		require.True(t, ok)
		require.Equal(t, want, string(jsondoc.Append(nil, row)), text)
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	var docs []*jsondoc.Object
	for _, s := range []string{`{"k":"a","n":1}`, `{"k":"b","n":2}`, `{"k":"a","n":5}`, `{"k":"a"}`, `{"n":"x"}`} {
		docs = append(docs, object(t, s))
	}
	tests := map[string]string{
		`SELECT VALUE COUNT(1) FROM c`:                                 `[5]`,
		`SELECT VALUE COUNT(c.k) FROM c`:                               `[4]`,
		`SELECT COUNT(1) AS n, MAX(c.k) AS m, MIN(c.k) AS l FROM c`:    `[{"n":5,"m":"b","l":"a"}]`,
		`SELECT VALUE SUM(c.n) FROM c`:                                 `[]`,
		`SELECT VALUE MAX(c.none) FROM c`:                              `[]`,
		`SELECT c.k, COUNT(1) AS n FROM c GROUP BY c.k`:                `[{"k":"a","n":3},{"k":"b","n":1},{"n":1}]`,
		`SELECT VALUE COUNT(1) * 2 + 1 FROM c`:                         `[11]`,
		`SELECT c.k, SUM(c.n) s, AVG(c.n) AS v FROM c GROUP BY c["k"]`: `[{"k":"a","s":6,"v":3},{"k":"b","s":2,"v":2},{}]`,
	}
	for text, want := range tests {
		q, err := cosmossql.Parse(text, nil)
		require.NoError(t, err, text)
		require.True(t, q.Grouped() && q.Local())
		require.Equal(t, want, string(jsondoc.Append([]byte{}, append([]jsondoc.Value{}, q.Groups(docs)...))), text)
	}
	q, err := cosmossql.Parse(`SELECT COUNT(1) AS n FROM c`, nil)
	require.NoError(t, err)
	require.Equal(t, `[{"n":0}]`, string(jsondoc.Append(nil, q.Groups(nil))), "a count of nothing")
}

func TestShape(t *testing.T) {
	t.Parallel()
	q, err := cosmossql.Parse(`SELECT c.id FROM c WHERE c.pk = @p AND (c.a.b > 1 OR c.tags[0] = 'x') ORDER BY c.n DESC, c.o.p OFFSET 2 LIMIT 3`,
		[]cosmossql.Param{{Name: "@p", Value: json.RawMessage(`"x"`)}})
	require.NoError(t, err)
	require.Equal(t, []string{"/pk", "/a/b", "/tags/[]"}, q.Paths())
	require.Equal(t, []string{"n"}, q.Orders[0].Path)
	require.True(t, q.Orders[0].Desc)
	require.Equal(t, []string{"o", "p"}, q.Orders[1].Path)
	require.False(t, q.Orders[1].Desc)
	require.Equal(t, 2, q.Offset)
	require.Equal(t, 3, q.Limit)
	require.True(t, q.Local())
	a, b := object(t, `{"n":1}`), object(t, `{"n":2}`)
	require.Positive(t, q.Compare(q.Keys(a), q.Keys(b)))

	q, err = cosmossql.Parse(`SELECT TOP @k c.id FROM c`, []cosmossql.Param{{Name: "@k", Value: json.RawMessage(`4`)}})
	require.NoError(t, err)
	require.Equal(t, 4, q.Limit)

	q, err = cosmossql.ParseCondition(`from c where c.n = 1`)
	require.NoError(t, err)
	require.True(t, q.Keep(a))
	require.False(t, q.Keep(b))
}

var wrong = []string{
	``, `SELECT`, `SELECT *`, `SELECT * FROM`, `SELECT * FROM c c c`, `SELECT * FROM c WHERE`, `SELECT * c`, `SELEKT * FROM c`, `FROM c`,
	`SELECT id FROM c`, `SELECT d.id FROM c`, `SELECT C.id FROM c`, `SELECT c.id c.n FROM c x y`, `SELECT c.id, FROM c`, `SELECT c. FROM c`,
	`SELECT c.id AS a, c.n AS a FROM c`, `SELECT c.id, c.o.id FROM c`, `SELECT DISTINCT c.id FROM c`, `SELECT TOP -1 * FROM c`, `SELECT TOP 1.5 * FROM c`,
	`SELECT TOP 1 * FROM c OFFSET 1 LIMIT 1`, `SELECT * FROM c OFFSET 1`, `SELECT * FROM c LIMIT 1`, `SELECT * FROM c ORDER c.id`,
	`SELECT * FROM c ORDER BY`, `SELECT * FROM c ORDER BY c`, `SELECT * FROM c ORDER BY c.n + 1`, `SELECT * FROM c ORDER BY 1`, `SELECT * FROM c ORDER BY @p`,
	`SELECT * FROM c JOIN x IN c.list`, `SELECT * FROM x IN c.list`, `SELECT * FROM c, d`, `SELECT * FROM c WHERE (SELECT 1)`, `SELECT * FROM c WHERE EXISTS(SELECT 1)`,
	`SELECT * FROM c WHERE c.n == 1`, `SELECT * FROM c WHERE c.n = `, `SELECT * FROM c WHERE c.n = 1 = 1`, `SELECT * FROM c WHERE c.n IN ()`, `SELECT * FROM c WHERE c.n IN 1`,
	`SELECT * FROM c WHERE c.n BETWEEN 1`, `SELECT * FROM c WHERE c.n NOT 1`, `SELECT * FROM c WHERE c.s LIKE 'a' ESCAPE 'ab'`, `SELECT * FROM c WHERE 'x`,
	`SELECT * FROM c WHERE 'a\q'`, `SELECT * FROM c WHERE 1.2.3`, `SELECT * FROM c WHERE @`, `SELECT * FROM c WHERE @none = 1`, `SELECT * FROM c WHERE c.n = 1;`,
	`SELECT * FROM c WHERE COUNT(1) = 1`, `SELECT COUNT(COUNT(1)) FROM c`, `SELECT c.id, COUNT(1) FROM c`, `SELECT * FROM c GROUP BY c.id`, `SELECT c.id FROM c GROUP BY c.n`,
	`SELECT c.n FROM c GROUP BY c.n ORDER BY c.n`, `SELECT * FROM c WHERE LOWER()`, `SELECT * FROM c WHERE LOWER('a','b')`, `SELECT * FROM c WHERE NOW()`, `SELECT * FROM c WHERE udf.f(1)`,
	`SELECT * FROM c WHERE c[`, `SELECT * FROM c WHERE {a}`, `SELECT * FROM c WHERE [1`, `SELECT * FROM c WHERE (1`, `SELECT * FROM c WHERE c.a ? 1 : 2`, `SELECT * FROM c WHERE c.a ?? 1`,
	"SELECT * FROM c WHERE " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000), "SELECT * FROM c WHERE " + strings.Repeat("NOT ", 1000) + "true",
	"SELECT * FROM c WHERE " + strings.Repeat("- ", 1000) + "1", "SELECT '" + strings.Repeat("x", 600<<10) + "' FROM c",
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, text := range wrong {
		_, err := cosmossql.Parse(text, nil)
		require.Error(t, err, "%.80s", text)
	}
	for _, params := range []string{`[{"name":"@a","value":1},{"name":"@a","value":2}]`, `[{"name":"@a"}]`, `[{"name":"@a","value":{"x":1,"x":2}}]`} {
		var list []cosmossql.Param
		require.NoError(t, json.Unmarshal([]byte(params), &list))
		_, err := cosmossql.Parse(`SELECT * FROM c`, list)
		require.Error(t, err, params)
	}
}

// FuzzParse: whatever the text, a query is refused or can be run.
func FuzzParse(f *testing.F) {
	for _, text := range slices.Concat(wrong[:len(wrong)-4], []string{
		`SELECT TOP 3 VALUE c.n FROM c WHERE c.n IN (1,2) AND NOT c.s LIKE 'a%' ORDER BY c.n DESC`,
		`SELECT c.k, SUM(c.n) AS s FROM c GROUP BY c.k`, `SELECT c.a[0]["b"] || 'x' FROM c OFFSET 1 LIMIT 2`,
	}) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := cosmossql.Parse(text, nil)
		if err != nil {
			require.Nil(t, q)
			return
		}
		doc := object(t, sample)
		q.Keep(doc)
		q.Paths()
		if q.Grouped() {
			q.Groups([]*jsondoc.Object{doc, doc})
			return
		}
		require.Zero(t, q.Compare(q.Keys(doc), q.Keys(doc)))
		q.Row(doc)
	})
}
