package cosmos

import (
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// textOf returns a query in the service's language, and its parameters. The partition and the
// order are always in it: without them some servers return rows of others, or in no order. All
// values are parameters: some servers do not know 'text'. The service indexes /id and /_ts by
// itself.
func textOf(part string, q *remote.Query) (text string, all []azcosmos.QueryParameter) {
	text = "SELECT c.id, c.label, c.type, c.v, c._etag, c._ts FROM c WHERE c.pk = @pk AND c.id > @after"
	all = []azcosmos.QueryParameter{{Name: "@pk", Value: part}, {Name: "@after", Value: max(q.After, before(q.Prefix))}}
	if q.Prefix != "" {
		text += " AND c.id < @end"
		all = append(all, azcosmos.QueryParameter{Name: "@end", Value: q.Prefix + "~"})
	}
	if !q.Since.IsZero() {
		text += " AND c._ts >= @since"
		all = append(all, azcosmos.QueryParameter{Name: "@since", Value: q.Since.Unix()})
	}
	return text + " ORDER BY c.id", all
}

// before returns a text that is behind each name which is less than a prefix, and before the
// prefix itself: no name has a '~'.
func before(prefix string) string {
	if prefix == "" {
		return ""
	}
	last := len(prefix) - 1
	return prefix[:last] + string(prefix[last]-1) + "~"
}
