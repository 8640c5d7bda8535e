package cosmostest

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// A definition is what the properties of a container mean.
type definition struct {
	keys         [][]string // the paths of the partition key
	hierarchical bool
	hashVersion  int
	defaultTTL   int // seconds; 0: off; -1: documents may have one
	index        index
	unique       [][][]string // for each unique key the paths that together are unique
}

// parseDefinition reads the properties of a container as the REST API has them.
func parseDefinition(o *jsondoc.Object) (d definition, f *failure) {
	if f := d.parseKey(o.Get("partitionKey")); f != nil {
		return d, f
	}
	if d.defaultTTL, f = parseTTL(o.Get("defaultTtl")); f != nil {
		return d, f
	}
	policies, _ := jsondoc.At(o, "uniqueKeyPolicy", "uniqueKeys").([]jsondoc.Value)
	for _, one := range policies {
		paths, ok := pathList(jsondoc.At(one, "paths"))
		if !ok {
			return d, fail(http.StatusBadRequest, "The unique key policy is invalid")
		}
		d.unique = append(d.unique, paths)
	}
	d.index, f = parseIndex(o.Get("indexingPolicy"))
	return d, f
}

func (d *definition) parseKey(v jsondoc.Value) *failure {
	paths, ok := pathList(jsondoc.At(v, "paths"))
	if !ok {
		return fail(http.StatusBadRequest, "The partition key definition is missing or its paths are invalid")
	}
	d.keys = paths
	kind, _ := jsondoc.At(v, "kind").(string)
	version, given := jsondoc.At(v, "version").(float64)
	if d.hashVersion = 1; given {
		d.hashVersion = int(version)
	}
	if d.hierarchical = kind == "MultiHash"; d.hierarchical {
		if d.hashVersion != 2 || len(paths) > 3 {
			return fail(http.StatusBadRequest, "A hierarchical partition key has at most 3 paths and version 2")
		}
		return nil
	}
	if kind != "" && kind != "Hash" || len(paths) != 1 || d.hashVersion < 1 || d.hashVersion > 2 {
		return fail(http.StatusBadRequest, "The partition key definition is invalid")
	}
	return nil
}

// pathList reads a list of at least one path like "/a/b".
func pathList(v jsondoc.Value) (out [][]string, ok bool) {
	items, _ := v.([]jsondoc.Value)
	for _, item := range items {
		path, _ := item.(string)
		names := segments(path)
		if !strings.HasPrefix(path, "/") || len(names) == 0 || slices.Contains(names, "*") || slices.Contains(names, "?") {
			return nil, false
		}
		out = append(out, names)
	}
	return out, len(out) > 0
}

// parseTTL reads a time to live: a positive number of seconds, or -1; 0 when
// there is none.
func parseTTL(v jsondoc.Value) (int, *failure) {
	switch v := v.(type) {
	case nil, jsondoc.Undefined:
		return 0, nil
	case float64:
		if v == -1 || v > 0 && v == math.Trunc(v) && v <= math.MaxInt32 {
			return int(v), nil
		}
	}
	return 0, fail(http.StatusBadRequest, "The time to live must be -1 or a positive number of seconds")
}

// keyOf returns the partition key that a document has.
func (d *definition) keyOf(doc *jsondoc.Object) ([]jsondoc.Value, *failure) {
	out := make([]jsondoc.Value, len(d.keys))
	for i, path := range d.keys {
		if out[i] = jsondoc.At(doc, path...); !keyable(out[i]) {
			return nil, fail(http.StatusBadRequest, "The partition key of the document is no scalar of at most %d bytes", maxKeyBytes)
		}
	}
	return out, nil
}
