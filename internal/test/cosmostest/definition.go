package cosmostest

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
)

// A definition is what the properties of a container mean.
type definition struct {
	properties document
	key        string // the member that is the partition key
	ttl        int    // seconds; 0: off; -1: documents may have one
	index      index
}

// named reads the properties of a database or container.
func named(body []byte) (document, *answer) {
	d, err := parseDocument(body)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "The resource body is invalid: %v", err)
	}
	id := d.text("id")
	if id == "" || len(id) > 255 || strings.ContainsAny(id, `/\?#`) || strings.HasSuffix(id, " ") {
		return nil, fail(http.StatusBadRequest, "The input name is invalid")
	}
	return d, nil
}

// parseDefinition reads the properties of a container as the REST API has them.
func parseDefinition(body []byte) (d definition, no *answer) {
	if d.properties, no = named(body); no != nil {
		return d, no
	}
	var o struct {
		PartitionKey struct {
			Paths []string
			Kind  string
		}
		IndexingPolicy  *policy
		UniqueKeyPolicy any
	}
	if err := json.Unmarshal(body, &o); err != nil || o.UniqueKeyPolicy != nil {
		return d, fail(http.StatusBadRequest, "The properties are not those of a container, or have unique keys, which are not served here")
	}
	if len(o.PartitionKey.Paths) != 1 || o.PartitionKey.Kind != "" && o.PartitionKey.Kind != "Hash" {
		return d, fail(http.StatusBadRequest, "The partition key is defined as no single member of documents")
	}
	var ok bool
	if d.key, ok = strings.CutPrefix(o.PartitionKey.Paths[0], "/"); !ok || d.key == "" || strings.ContainsAny(d.key, `/*?"`) {
		return d, fail(http.StatusBadRequest, "The partition key is defined as no single member of documents")
	}
	if d.ttl, no = parseTTL(d.properties.get("defaultTtl")); no != nil {
		return d, no
	}
	d.index, no = o.IndexingPolicy.index()
	return d, no
}

// parseTTL reads a time to live: a positive number of seconds, or -1; 0 when there is none.
func parseTTL(v value) (int, *answer) {
	var seconds *float64
	err := json.Unmarshal([]byte(v), &seconds)
	switch {
	case v == "" || err == nil && seconds == nil:
		return 0, nil
	case err == nil && (*seconds == -1 || *seconds > 0 && *seconds == math.Trunc(*seconds) && *seconds <= math.MaxInt32):
		return int(*seconds), nil
	}
	return 0, fail(http.StatusBadRequest, "The time to live must be -1 or a positive number of seconds")
}

// A policy is an indexing policy. Composite indexes are taken and not used, since no query
// sorts by two members.
type policy struct{ IncludedPaths, ExcludedPaths []struct{ Path string } }

// An index says which members of documents are indexed: those that it names, and the rest
// with all below it, or not.
type index struct {
	rest  bool
	named map[string]bool
}

// index reads the paths "/*" and "/member/?". No policy means that all is indexed.
func (p *policy) index() (index, *answer) {
	if p == nil {
		return index{true, map[string]bool{"_etag": false}}, nil
	}
	x, whole := index{true, map[string]bool{}}, false
	for i, path := range slices.Concat(p.IncludedPaths, p.ExcludedPaths) {
		included := i < len(p.IncludedPaths)
		name, ok := strings.CutSuffix(path.Path, "/?")
		switch {
		case path.Path == "/*":
			x.rest, whole = included, true
		case ok && strings.LastIndexByte(name, '/') == 0 && len(name) > 1:
			x.named[strings.Trim(name[1:], `"`)] = included
		default:
			return x, fail(http.StatusBadRequest, "The indexing path %q could not be accepted", path.Path)
		}
	}
	if !whole && len(x.named) > 0 {
		return x, fail(http.StatusBadRequest, `The special mandatory indexing path "/" is not provided in any of the path type sets`)
	}
	return x, nil
}

// has reports whether a member is indexed. The id and _ts always are.
func (x index) has(name string) bool {
	if name == "id" || name == "_ts" {
		return true
	}
	if included, named := x.named[name]; named {
		return included
	}
	return x.rest
}

// terms counts the values of a document that are indexed.
func (x index) terms(d document) (n int) {
	for _, m := range d {
		switch nested := m.value.rank() > rankString; {
		case nested && x.rest:
			var w writer
			_ = w.value([]byte(m.value), 0) // it was checked
			n += w.leaves
		case !nested && x.has(m.name):
			n++
		}
	}
	return n
}
