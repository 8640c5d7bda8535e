package cosmostest

import (
	"net/http"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

const maxBatch = 100 // operations

// batch does the operations of a request all or none.
func (s *Server) batch(c *call, box *container) (*answer, *failure) {
	key, f := parseKey(c.header.Get(headerPartitionKey))
	if f != nil {
		return nil, f
	}
	if !c.isTrue("x-ms-cosmos-batch-atomic") {
		return nil, fail(http.StatusBadRequest, "Only atomic batches are supported")
	}
	writes, f := parseBatch(c.Body)
	if f != nil {
		return nil, f
	}
	t := box.begin(c.At)
	t.room = s.options.PartitionBytes
	results := make([]result, 0, len(writes))
	failed := -1
	for i, w := range writes {
		r := t.step(key, w)
		if results = append(results, r); r.failure != nil {
			failed = i
			break
		}
	}
	if failed < 0 {
		t.commit()
	} else {
		t.rollback()
	}
	a := batchAnswer(results, len(writes), failed, c.minimal())
	return a.set("x-ms-session-token", box.now(c.At).sessionToken()), nil
}

// step does one operation of a batch, which may be a read of what the
// operations before it wrote.
func (t *tx) step(key string, w write) result {
	if w.op == OpRead {
		return read(t.container.now(t.now), key, w)
	}
	return t.apply(key, w)
}

// parseBatch reads the operations of a batch.
func parseBatch(body []byte) ([]write, *failure) {
	v, err := jsondoc.Parse(body)
	items, ok := v.([]jsondoc.Value)
	if err != nil || !ok || len(items) == 0 {
		return nil, fail(http.StatusBadRequest, "The batch is no list of operations")
	}
	if len(items) > maxBatch {
		return nil, fail(http.StatusBadRequest, "Batch request has more operations than what is supported")
	}
	ops := map[string]Op{
		"Create": OpCreate, "Upsert": OpUpsert, "Replace": OpReplace, "Delete": OpDelete, "Read": OpRead,
	}
	out := make([]write, len(items))
	for i, item := range items {
		o, ok := item.(*jsondoc.Object)
		if !ok {
			return nil, fail(http.StatusBadRequest, "Operation %d of the batch is no object", i)
		}
		w := write{op: ops[o.String("operationType")], id: o.String("id"), ifMatch: o.String("ifMatch"), ifNone: o.String("ifNoneMatch")}
		body, hasBody := o.Get("resourceBody").(*jsondoc.Object)
		if hasBody {
			w.body = jsondoc.Append(nil, body)
		}
		needsBody := w.op == OpCreate || w.op == OpUpsert || w.op == OpReplace
		needsID := w.op != OpCreate && w.op != OpUpsert
		if w.op == "" || needsBody != hasBody || needsID && w.id == "" {
			return nil, fail(http.StatusBadRequest, "Operation %d of the batch is invalid", i)
		}
		out[i] = w
	}
	return out, nil
}

// batchAnswer tells the result of each operation. After a failure all others
// are 424, and nothing was written.
func batchAnswer(results []result, n, failed int, minimal bool) *answer {
	a := &answer{status: http.StatusOK}
	list := make([]jsondoc.Value, n)
	for i := range n {
		status, members := http.StatusFailedDependency, []jsondoc.Member{}
		charge := 0.0
		switch {
		case failed < 0:
			r := results[i]
			status, charge = r.status, r.charge
			members = resultMembers(r, minimal)
			if a.charge += charge; r.written != nil {
				a.written = append(a.written, *r.written)
			} else {
				a.read++
			}
		case i == failed:
			f := results[i].failure
			status, charge = f.status, f.charge
			a.charge += refusedCharge * float64(failed+1)
			if f.sub != 0 {
				members = append(members, jsondoc.Member{Name: "subStatusCode", Value: float64(f.sub)})
			}
		}
		list[i] = jsondoc.NewObject(append([]jsondoc.Member{
			{Name: "statusCode", Value: float64(status)}, {Name: "requestCharge", Value: charge},
		}, members...)...)
	}
	if failed >= 0 {
		a.status = http.StatusMultiStatus
	}
	a.body = jsondoc.Append(nil, list)
	return a
}

func resultMembers(r result, minimal bool) (out []jsondoc.Member) {
	if r.doc == nil {
		return nil
	}
	out = append(out, jsondoc.Member{Name: "eTag", Value: r.doc.etag})
	if !minimal || r.written == nil {
		out = append(out, jsondoc.Member{Name: "resourceBody", Value: r.doc.body})
	}
	return out
}
