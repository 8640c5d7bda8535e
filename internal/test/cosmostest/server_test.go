package cosmostest_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

const docsLink = "dbs/d/colls/c"

// A probe is a request that no client would send.
type probe struct {
	method  string
	path    string
	kind    string // that is signed
	link    string // that is signed
	body    string
	headers map[string]string // "" takes a header away
	length  int64             // of the body; 0: the right one
}

// send signs a probe and sends it.
func send(t *testing.T, srv *cosmostest.Server, p probe) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), p.method, srv.Endpoint()+p.path, strings.NewReader(p.body))
	require.NoError(t, err)
	if p.length != 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(p.body))), p.length
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	key, err := base64.StdEncoding.DecodeString(srv.Key())
	require.NoError(t, err)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n\n", strings.ToLower(p.method), p.kind, p.link, strings.ToLower(date))
	sig := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+sig))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", "2018-12-31")
	r.Header.Set("x-ms-documentdb-partitionkey", `["a"]`)
	for name, value := range p.headers {
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	answer, err := srv.Transport().RoundTrip(r)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header, string(body)
}

// create is a probe that creates a document.
func create(body string, headers ...string) probe {
	p := probe{method: "POST", path: docsLink + "/docs", kind: "docs", link: docsLink, body: body, headers: map[string]string{}}
	for i := 0; i+1 < len(headers); i += 2 {
		p.headers[headers[i]] = headers[i+1]
	}
	return p
}

// ask is a probe that queries.
func ask(query string, headers ...string) probe {
	p := create(fmt.Sprintf(`{"query":%q,"parameters":[{"name":"@n","value":1}]}`, query), headers...)
	for name, value := range map[string]string{"x-ms-documentdb-query": "True", "Content-Type": "application/query+json"} {
		if _, given := p.headers[name]; !given {
			p.headers[name] = value
		}
	}
	return p
}

// item is a probe of one document.
func item(method, id, body string, headers ...string) probe {
	p := create(body, headers...)
	p.method, p.path, p.link = method, docsLink+"/docs/"+url.PathEscape(id), docsLink+"/docs/"+id
	return p
}

func batch(body string, headers ...string) probe {
	return create(body, append([]string{"x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True"}, headers...)...)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200)
	tests := []struct {
		name   string
		probe  probe
		status int
		sub    string
	}{
		{"a good one", create(`{"id":"good","pk":"a"}`), 201, ""},
		{"no authorization", create(`{"id":"x","pk":"a"}`, "Authorization", ""), 401, ""},
		{"authorization of another form", create(`{"id":"x","pk":"a"}`, "Authorization", "Bearer x"), 401, ""},
		{"a token that is no base64", create(`{"id":"x","pk":"a"}`, "Authorization", url.QueryEscape("type=master&ver=1.0&sig=?")), 401, ""},
		{"a bearer token", create(`{"id":"x","pk":"a"}`, "Authorization", "type=aad&ver=1.0&sig=x"), 401, ""},
		{"no version", create(`{"id":"x","pk":"a"}`, "x-ms-version", ""), 400, ""},
		{"no date", create(`{"id":"x","pk":"a"}`, "x-ms-date", ""), 401, ""},
		{"another date than the signed one", create(`{"id":"x","pk":"a"}`, "x-ms-date", "Tue, 01 Nov 1994 08:12:31 GMT"), 401, ""},
		{"no partition key", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", ""), 400, ""},
		{"a partition key that is no array", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `"a"`), 400, ""},
		{"a partition key that is an object", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `[{"a":1}]`), 400, ""},
		{"two partition keys", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `["a","b"]`), 400, "1001"},
		{"a long partition key", create(`{"id":"x","pk":"a"}`, "x-ms-documentdb-partitionkey", `["`+strings.Repeat("k", 2049)+`"]`), 400, ""},
		{"another partition key", create(`{"id":"x","pk":"b"}`), 400, "1001"},
		{"a partition key that is not there", create(`{"id":"x"}`), 400, "1001"},
		{"no id", create(`{"pk":"a"}`), 400, ""},
		{"an id that is a number", create(`{"id":7,"pk":"a"}`), 400, ""},
		{"no JSON", create(`{"id":"x","pk":"a"`), 400, ""},
		{"JSON that is no object", create(`["x"]`), 400, ""},
		{"repeated names", create(`{"id":"x","pk":"a","v":1,"v":2}`), 400, ""},
		{"half of a surrogate pair", create(`{"id":"x","pk":"a","v":"\ud800"}`), 400, ""},
		{"invalid UTF-8", create("{\"id\":\"x\",\"pk\":\"a\",\"v\":\"\xff\"}"), 400, ""},
		{"deep nesting", create(`{"id":"x","pk":"a","v":` + deep + `}`), 400, ""},
		{"a number over the range", create(`{"id":"x","pk":"a","v":1e999}`), 400, ""},
		{"a ttl of 0", create(`{"id":"x","pk":"a","ttl":0}`), 400, ""},
		{"a ttl that is a text", create(`{"id":"x","pk":"a","ttl":"1"}`), 400, ""},
		{"a content length too long", probe{"POST", docsLink + "/docs", "docs", docsLink, `{"id":"x","pk":"a"}`, nil, 99}, 400, ""},
		{"an id of 1024 bytes", create(`{"id":"` + strings.Repeat("i", 1024) + `","pk":"a"}`), 400, ""},
		{"an id of 1023 bytes", create(`{"id":"` + strings.Repeat("i", 1023) + `","pk":"a"}`), 201, ""},
		{"a document over 2 MB", create(`{"id":"x","pk":"a","v":"` + strings.Repeat("v", 2<<20) + `"}`), 413, ""},
		{"a request without end", create(strings.Repeat("x", 6<<20)), 413, ""},
		{"a resource of another kind", probe{"GET", "dbs/d/users", "users", "dbs/d", "", nil, 0}, 404, ""},
		{"a verb of another resource", probe{"PATCH", "dbs/d/colls/c", "colls", docsLink, "", nil, 0}, 405, ""},
		{"documents by GET", probe{"GET", docsLink + "/docs", "docs", docsLink, "", nil, 0}, 405, ""},
		{"a level of consistency for one read", item("GET", "good", "", "x-ms-consistency-level", "Strong"), 400, ""},
		{"a session token from the future", item("GET", "good", "", "x-ms-session-token", "0:-1#999"), 404, "1002"},
		{"a session token that is none", item("GET", "good", "", "x-ms-session-token", "new"), 400, ""},
		{"a read with another etag", item("GET", "good", "", "If-Match", `"x"`), 412, ""},
		{"a replacement of another id", item("PUT", "good", `{"id":"other","pk":"a"}`), 400, ""},
		{"a create unless it is there", create(`{"id":"fresh","pk":"a"}`, "If-None-Match", "*"), 201, ""},
		{"an upsert unless it is there", create(`{"id":"good","pk":"a"}`, "If-None-Match", "*", "x-ms-documentdb-is-upsert", "true"), 412, ""},
		{"a patch", item("PATCH", "good", `{"operations":[{"op":"set","path":"/v","value":1}]}`), 405, ""},
		{"a batch of nothing", batch(`[]`), 400, ""},
		{"a batch that is not atomic", batch(`[{"operationType":"Read","id":"good"}]`, "x-ms-cosmos-batch-atomic", ""), 400, ""},
		{"a read in a batch with a document", batch(`[{"operationType":"Read","id":"good","resourceBody":{"id":"good","pk":"a"}}]`), 400, ""},
		{"an unknown operation", batch(`[{"operationType":"Merge","id":"good"}]`), 400, ""},
		{"a create without a document", batch(`[{"operationType":"Create"}]`), 400, ""},
		{"a batch for two partitions", batch(`[{"operationType":"Create","resourceBody":{"id":"x","pk":"b"}}]`), 207, ""},
		{"a query of another content type", ask("SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id", "Content-Type", "application/json"), 400, ""},
		{"a query over all partitions", ask("SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id", "x-ms-documentdb-partitionkey", ""), 400, ""},
		{"a parameter that is not given", ask("SELECT * FROM c WHERE c.a = @m ORDER BY c.id"), 400, ""},
		{"ORDER BY of what is not indexed", ask("SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.hidden"), 400, ""},
		{"a page of no rows", ask("SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id", "x-ms-max-item-count", "0"), 400, ""},
		{"a continuation of another query", ask("SELECT * FROM c WHERE c.pk = 'a' ORDER BY c.id", "x-ms-continuation", "bm90aGluZw=="), 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := cosmostest.New(nil)
			require.NoError(t, srv.CreateContainer("d", "c", `{
				"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":-1,
				"indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/hidden/?"}]}}`))
			if tt.name != "a good one" {
				require.NoError(t, srv.Put("d", "c", `{"id":"good","pk":"a","n":1}`))
			}
			before := len(srv.Docs("d", "c"))
			code, header, body := send(t, srv, tt.probe)
			require.Equal(t, tt.status, code, body)
			require.Equal(t, tt.sub, header.Get("x-ms-substatus"))
			if code > 201 {
				require.Len(t, srv.Docs("d", "c"), before, "a refusal writes nothing")
			}
			if code >= 400 {
				require.Contains(t, body, `{"code":"`)
			}
		})
	}
}

func TestContainersThatAreRefused(t *testing.T) {
	t.Parallel()
	const key = `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`
	tests := map[string]string{
		"no partition key":                       `{}`,
		"a partition key without a slash":        `{"partitionKey":{"paths":["pk"]}}`,
		"a wildcard as partition key":            `{"partitionKey":{"paths":["/*"]}}`,
		"two paths":                              `{"partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}}`,
		"a path of two members":                  `{"partitionKey":{"paths":["/a/b"]}}`,
		"a ttl of 0":                             `{` + key + `,"defaultTtl":0}`,
		"an index that does not say of the rest": `{` + key + `,"indexingPolicy":{"includedPaths":[{"path":"/a/?"}]}}`,
		"an index path without an end":           `{` + key + `,"indexingPolicy":{"includedPaths":[{"path":"/a"}],"excludedPaths":[{"path":"/*"}]}}`,
		"unique keys":                            `{` + key + `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]}}`,
		"repeated names":                         `{` + key + `,` + key + `}`,
	}
	for name, properties := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, cosmostest.New(nil).CreateContainer("d", "c", properties))
		})
	}
}

// TestPartitionBytes fills a partition: what would make it larger is refused, alone and in a
// batch, and a document that went makes room.
func TestPartitionBytes(t *testing.T) {
	t.Parallel()
	_, c := open(t, &cosmostest.Options{PartitionBytes: 300}, "")
	create := func(p, id string) error {
		_, err := c.CreateItem(t.Context(), pk(p), doc(p, id, "text", strings.Repeat("x", 100)), nil)
		return err
	}
	require.NoError(t, create("p", "a"))
	require.NoError(t, create("p", "b"))
	err := create("p", "c")
	require.Equal(t, []any{http.StatusForbidden, "1014"}, []any{status(err), substatus(err)})
	require.NoError(t, create("q", "c"))
	_, err = c.ReplaceItem(t.Context(), pk("p"), "a", doc("p", "a", "text", strings.Repeat("y", 100)), nil)
	require.NoError(t, err, "it is no larger")
	b := c.NewTransactionalBatch(pk("p"))
	b.UpsertItem(doc("p", "c", "text", strings.Repeat("x", 100)), nil)
	got, err := c.ExecuteTransactionalBatch(t.Context(), b, nil)
	require.NoError(t, err)
	require.EqualValues(t, http.StatusForbidden, got.OperationResults[0].StatusCode)
	_, err = c.DeleteItem(t.Context(), pk("p"), "b", nil)
	require.NoError(t, err)
	require.NoError(t, create("p", "c"))
}
