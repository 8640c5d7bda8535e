package cosmostest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// An index says which properties of documents are indexed.
type index struct {
	rules []indexRule
}

// An indexRule includes or excludes a property, or with deep also all below it.
type indexRule struct {
	path    []string
	deep    bool
	include bool
}

// parseIndex reads an indexing policy; none means that all is indexed. Composite indexes are
// taken and not used, since no query sorts by two members.
func parseIndex(v jsondoc.Value) (index, *failure) {
	policy, ok := v.(*jsondoc.Object)
	if !ok {
		return index{rules: []indexRule{{deep: true, include: true}, {path: []string{"_etag"}}}}, nil
	}
	var x index
	for _, list := range []struct {
		name    string
		include bool
	}{{"includedPaths", true}, {"excludedPaths", false}} {
		for _, path := range pathsOf(policy.Get(list.name)) {
			rule, ok := parseRule(path)
			if !ok {
				return x, fail(http.StatusBadRequest, "The indexing path %q could not be accepted", path)
			}
			rule.include = list.include
			x.rules = append(x.rules, rule)
		}
	}
	if !slices.ContainsFunc(x.rules, func(r indexRule) bool { return len(r.path) == 0 && r.deep }) && len(x.rules) > 0 {
		return x, fail(http.StatusBadRequest, `The special mandatory indexing path "/" is not provided in any of the path type sets`)
	}
	if len(x.rules) == 0 {
		x.rules = []indexRule{{deep: true, include: true}}
	}
	return x, nil
}

// pathsOf returns the members "path" of the objects in an array.
func pathsOf(v jsondoc.Value) (out []string) {
	items, _ := v.([]jsondoc.Value)
	for _, item := range items {
		path, _ := jsondoc.At(item, "path").(string)
		out = append(out, path)
	}
	return out
}

// segments cuts "/a/\"b\"/c" into names.
func segments(path string) (out []string) {
	for _, name := range strings.Split(strings.Trim(path, "/"), "/") {
		if name = strings.Trim(name, `"`); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// parseRule reads "/a/b/?", "/a/*" and "/a/[]/b/?".
func parseRule(path string) (indexRule, bool) {
	names := segments(path)
	if !strings.HasPrefix(path, "/") || len(names) == 0 {
		return indexRule{deep: true}, path == "/"
	}
	last := names[len(names)-1]
	if last != "*" && last != "?" {
		return indexRule{}, false
	}
	return indexRule{path: names[:len(names)-1], deep: last == "*"}, true
}

// has reports whether the property at path is indexed: what the most precise
// rule says, and id and _ts always.
func (x index) has(path []string) bool {
	if len(path) == 1 && (path[0] == "id" || path[0] == "_ts") {
		return true
	}
	best, found := -1, false
	for _, r := range x.rules {
		depth := len(r.path) * 2
		if !r.deep {
			depth++
		}
		fits := len(path) >= len(r.path) && slices.Equal(path[:len(r.path)], r.path) && (r.deep || len(path) == len(r.path))
		if fits && depth > best {
			best, found = depth, r.include
		}
	}
	return found
}

// terms counts the values of a document that are indexed.
func (x index) terms(v jsondoc.Value, path ...string) (n int) {
	switch v := v.(type) {
	case *jsondoc.Object:
		for _, m := range v.Members() {
			n += x.terms(m.Value, append(path[:len(path):len(path)], m.Name)...)
		}
		return n
	case []jsondoc.Value:
		for _, item := range v {
			n += x.terms(item, append(path[:len(path):len(path)], "[]")...)
		}
		return n
	}
	if x.has(path) {
		return 1
	}
	return 0
}
