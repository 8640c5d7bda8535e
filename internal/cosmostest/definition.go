package cosmostest

import (
	"math"
	"net/http"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// A definition is what the properties of a container mean.
type definition struct {
	key        string // the member that is the partition key
	defaultTTL int    // seconds; 0: off; -1: documents may have one
	index      index
}

// parseDefinition reads the properties of a container as the REST API has them.
func parseDefinition(o *jsondoc.Object) (d definition, f *failure) {
	if o.Get("uniqueKeyPolicy") != (jsondoc.Undefined{}) {
		return d, fail(http.StatusBadRequest, "Unique keys are not served here")
	}
	if d.key, f = parsePartitionKey(o.Get("partitionKey")); f != nil {
		return d, f
	}
	if d.defaultTTL, f = parseTTL(o.Get("defaultTtl")); f != nil {
		return d, f
	}
	d.index, f = parseIndex(o.Get("indexingPolicy"))
	return d, f
}

// parsePartitionKey reads the definition of a partition key, which is one member of the
// document.
func parsePartitionKey(v jsondoc.Value) (string, *failure) {
	paths, _ := jsondoc.At(v, "paths").([]jsondoc.Value)
	kind, _ := jsondoc.At(v, "kind").(string)
	if len(paths) == 1 && (kind == "" || kind == "Hash") {
		path, _ := paths[0].(string)
		if name, ok := strings.CutPrefix(path, "/"); ok && name != "" && !strings.ContainsAny(name, `/*?"`) {
			return name, nil
		}
	}
	return "", fail(http.StatusBadRequest, "The partition key is defined as no single member of documents")
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

// keyOf returns the partition that a document belongs to.
func (d *definition) keyOf(doc *jsondoc.Object) (string, *failure) {
	key := doc.Get(d.key)
	if key == (jsondoc.Undefined{}) {
		return "", failSub(http.StatusBadRequest, subPartitionKeyMismatch, "The document has no partition key")
	}
	return keyText(key)
}
