package cosmos

import "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

// Query asks for documents of one partition. The functions below make one.
type Query struct {
	PK      string // of the partition
	Type    string // of the documents; "": all
	Stream  string // of segments; "": all
	Project string // of entries of the catalogue; "": all
	After   int64  // where the documents' end is greater, with a Stream
	Since   int64  // when they were written at the earliest, in seconds by the service's clock; 0: at any time
	Order   Order

	columns string // "": all
	rows    int32  // of a page, at most; 0: pageSize
}

// Order is the order of the documents that a query yields.
type Order string

// The orders. They are the members by which the service sorts.
const (
	ByID      Order = "c.id"
	ByEnd     Order = `c["end"]`
	Newest    Order = "c.updated DESC"
	ByWritten Order = "c._ts"
)

// segmentColumns are the members of a segment that tell where it belongs.
const segmentColumns = `c.id, c.pk, c.type, c.v, c.st, c.seq, c.n, c["end"], c.prev, c.hash, c.off, c.bytes, c["at"], c.base`

// Segments asks for the segments of a stream that end behind record after, with
// their indexes and without their lines, in the order of their ends.
func Segments(pk, stream string, after int64) Query {
	return Query{PK: pk, Type: "seg", Stream: stream, After: after, Order: ByEnd, columns: segmentColumns + ", c.idx"}
}

// Histories asks for the former heads and branches of a session.
func Histories(pk string) Query { return Query{PK: pk, Type: "history", Order: ByID} }

// Names asks for the ids, types and formats of all documents of a partition.
func Names(pk string) Query {
	return Query{PK: pk, Order: ByID, columns: "c.id, c.type, c.v"}
}

// Inventory asks for all documents of a partition, without lines: where segments
// belong, and which documents each document names.
func Inventory(pk string) Query {
	return Query{PK: pk, Order: ByID, columns: segmentColumns + ", c.refs, c._ts, c._etag"}
}

// entryColumns are the members of an entry of the catalogue.
const entryColumns = "c.id, c.pk, c.type, c.v, c.rev, c.session_id, c.project, c.name, c.updated, c.n, c.turns, c.deleted, c.conflict, c._ts"

// entriesOfPage is how many entries a page has at most. The service ends a page
// before, when it has 4 MB.
const entriesOfPage = 10_000

// written asks for the entries of a project that were written since a time in
// seconds by the service's clock, 0 for all, the earliest first.
func written(pk, project string, since int64) Query {
	return Query{PK: pk, Type: "cat", Project: project, Since: since, Order: ByWritten, columns: entryColumns, rows: entriesOfPage}
}

// catalogue asks for the entries of a project: those written since a time in
// seconds by the service's clock, the earliest first; or all of them, the session
// that changed last first, when since is 0.
func catalogue(pk, project string, since int64) Query {
	q := Query{PK: pk, Type: "cat", Project: project, Since: since, Order: Newest}
	if since != 0 {
		q.Order = ByWritten
	}
	return q
}

// text returns the query in the service's language. The partition and the order
// are always in it: without them some servers return rows of others, or in no
// order. All values are parameters: some servers do not know 'text'.
func (q *Query) text() string {
	text := "SELECT "
	if q.columns == "" {
		text += "*"
	}
	text += q.columns + " FROM c WHERE c.pk = @pk"
	if q.Type != "" {
		text += " AND c.type = @type"
	}
	if q.Project != "" {
		text += " AND c.project = @project"
	}
	if q.Stream != "" {
		text += ` AND c.st = @st AND c["end"] > @from`
	}
	if q.Since != 0 {
		text += " AND c._ts >= @since"
	}
	return text + " ORDER BY " + string(q.Order)
}

// parameters returns the values of the names in the text.
func (q *Query) parameters() []azcosmos.QueryParameter {
	all := []azcosmos.QueryParameter{{Name: "@pk", Value: q.PK}}
	if q.Type != "" {
		all = append(all, azcosmos.QueryParameter{Name: "@type", Value: q.Type})
	}
	if q.Project != "" {
		all = append(all, azcosmos.QueryParameter{Name: "@project", Value: q.Project})
	}
	if q.Stream != "" {
		all = append(all, azcosmos.QueryParameter{Name: "@st", Value: q.Stream}, azcosmos.QueryParameter{Name: "@from", Value: q.After})
	}
	if q.Since != 0 {
		all = append(all, azcosmos.QueryParameter{Name: "@since", Value: q.Since})
	}
	return all
}
