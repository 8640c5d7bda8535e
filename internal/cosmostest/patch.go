package cosmostest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/cosmossql"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

const maxPatches = 10 // operations of one patch

// patch applies the operations of body to a document.
func (t *tx) patch(doc *jsondoc.Object, body []byte) (*jsondoc.Object, *failure) {
	request, err := jsondoc.ParseObject(body)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "The patch request is invalid: %v", err)
	}
	if condition, given := request.Get("condition").(string); given {
		q, err := cosmossql.ParseCondition(condition)
		if err != nil {
			return nil, fail(http.StatusBadRequest, "The condition of the patch is invalid: %v", err)
		}
		if !q.Keep(doc) {
			return nil, fail(http.StatusPreconditionFailed, "Operation cannot be performed because the condition is not met")
		}
	}
	operations, ok := request.Get("operations").([]jsondoc.Value)
	if !ok || len(operations) == 0 || len(operations) > maxPatches {
		return nil, fail(http.StatusBadRequest, "A patch has 1 to %d operations", maxPatches)
	}
	out := jsondoc.Value(doc)
	for _, o := range operations {
		one, ok := o.(*jsondoc.Object)
		if !ok {
			return nil, fail(http.StatusBadRequest, "An operation of the patch is no object")
		}
		var f *failure
		if out, f = t.patchOne(out, one); f != nil {
			return nil, f
		}
	}
	return out.(*jsondoc.Object), nil
}

func (t *tx) patchOne(doc jsondoc.Value, o *jsondoc.Object) (jsondoc.Value, *failure) {
	path := o.String("path")
	names := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if !strings.HasPrefix(path, "/") || slices.Contains(names, "") {
		return nil, fail(http.StatusBadRequest, "The path of a patch operation is invalid")
	}
	key := slices.ContainsFunc(t.keys, func(k []string) bool { return slices.Equal(k, names[:min(len(k), len(names))]) })
	if key || names[0] == "id" || slices.Contains(systemMembers, names[0]) {
		return nil, fail(http.StatusBadRequest, "The path of a patch operation leads to what cannot be changed")
	}
	e := edit{o.String("op"), o.Get("value")}
	if _, none := e.value.(jsondoc.Undefined); none == (e.op != "remove") {
		return nil, fail(http.StatusBadRequest, "A patch operation has a value, except when it removes")
	}
	return e.at(doc, names)
}

// An edit is one operation of a patch.
type edit struct {
	op    string
	value jsondoc.Value
}

// at applies the edit to what is at the path inside of v.
func (e edit) at(v jsondoc.Value, path []string) (jsondoc.Value, *failure) {
	switch v := v.(type) {
	case *jsondoc.Object:
		return e.inObject(v, path)
	case []jsondoc.Value:
		return e.inArray(v, path)
	}
	return nil, fail(http.StatusBadRequest, "The path of a patch operation leads nowhere")
}

func (e edit) inObject(o *jsondoc.Object, path []string) (jsondoc.Value, *failure) {
	name, old := path[0], o.Get(path[0])
	if len(path) > 1 {
		next, f := e.at(old, path[1:])
		if f != nil {
			return nil, f
		}
		return o.With(name, next), nil
	}
	_, missing := old.(jsondoc.Undefined)
	switch e.op {
	case "set", "add":
		return o.With(name, e.value), nil
	case "replace", "remove":
		if missing {
			return nil, fail(http.StatusBadRequest, "The path of a patch operation leads nowhere")
		}
		if e.op == "remove" {
			return o.Without(name), nil
		}
		return o.With(name, e.value), nil
	case "incr":
		next, f := e.increment(old)
		return o.With(name, next), f
	}
	return nil, fail(http.StatusBadRequest, "The patch operation is not supported")
}

func (e edit) increment(old jsondoc.Value) (jsondoc.Value, *failure) {
	by, ok := e.value.(float64)
	n, number := old.(float64)
	if _, missing := old.(jsondoc.Undefined); !ok || !number && !missing {
		return nil, fail(http.StatusBadRequest, "The value to increment is no number")
	}
	return n + by, nil
}

func (e edit) inArray(items []jsondoc.Value, path []string) (jsondoc.Value, *failure) {
	nowhere := fail(http.StatusBadRequest, "The path of a patch operation leads nowhere")
	i, err := strconv.Atoi(path[0])
	if path[0] == "-" && len(path) == 1 && (e.op == "add" || e.op == "set") {
		i, err = len(items), nil
	}
	last := len(path) == 1
	if err != nil || i < 0 || i > len(items) || i == len(items) && !(last && (e.op == "add" || e.op == "set")) {
		return nil, nowhere
	}
	out := slices.Clone(items)
	switch {
	case !last:
		next, f := e.at(items[i], path[1:])
		out[i] = next
		return out, f
	case e.op == "add" || e.op == "set" && i == len(items):
		return slices.Insert(out, i, e.value), nil
	case e.op == "set" || e.op == "replace":
		out[i] = e.value
		return out, nil
	case e.op == "remove":
		return slices.Delete(out, i, i+1), nil
	case e.op == "incr":
		next, f := e.increment(items[i])
		out[i] = next
		return out, f
	}
	return nil, fail(http.StatusBadRequest, "The patch operation is not supported")
}
