package cosmostest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// changeFeed serves the newest versions of documents in the order of their
// writes, from after the one that If-None-Match names. Deletions are not in
// it, and what one batch wrote comes on one page.
func (s *Server) changeFeed(c *call, box *container) (*answer, *failure) {
	if c.header.Get("A-IM") != "Incremental Feed" {
		return nil, fail(http.StatusBadRequest, "Documents are listed by a query or by the change feed")
	}
	match, f := scope(c, box, nil)
	if f != nil {
		return nil, f
	}
	v, f := s.replica(c, box)
	if f != nil {
		return nil, f
	}
	after, since, f := feedStart(c, v)
	if f != nil {
		return nil, f
	}
	most := maxAnswer
	if header := c.header.Get("x-ms-max-item-count"); header != "" && header != "-1" {
		n, err := strconv.Atoi(header)
		if err != nil || n < 1 {
			return nil, fail(http.StatusBadRequest, "The value of x-ms-max-item-count is invalid")
		}
		most = n
	}
	if s.options.FeedPage > 0 {
		most = min(most, s.options.FeedPage)
	}
	news := slices.DeleteFunc(v.list(match), func(d *version) bool { return d.lsn <= after || d.at.Before(since) })
	slices.SortStableFunc(news, func(a, b *version) int { return cmp.Compare(a.lsn, b.lsn) })
	return feedAnswer(v, news, most), nil
}

// feedStart reads where a feed begins: after a write, or at a time.
func feedStart(c *call, v view) (lsn int64, since time.Time, f *failure) {
	switch tag := c.header.Get("If-None-Match"); tag {
	case "":
	case "*":
		return v.lsn, since, nil
	default:
		n, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
		if err != nil {
			return 0, since, fail(http.StatusBadRequest, "The value of If-None-Match is invalid")
		}
		return n, since, nil
	}
	if header := c.header.Get("If-Modified-Since"); header != "" {
		at, err := time.Parse(time.RFC1123, header)
		if err != nil {
			return 0, since, fail(http.StatusBadRequest, "The value of If-Modified-Since is invalid")
		}
		since = at
	}
	return 0, since, nil
}

func feedAnswer(v view, news []*version, most int) *answer {
	end := v.lsn
	rows, bytes, sizes := []jsondoc.Value{}, 0, []int{}
	for i, d := range news {
		full := len(rows) >= most || len(rows) > 0 && bytes+len(d.data) > maxAnswer-1<<10
		if full && news[i-1].lsn != d.lsn {
			end = news[i-1].lsn
			break
		}
		rows = append(rows, d.body.With("_lsn", float64(d.lsn)))
		bytes += len(d.data)
		sizes = append(sizes, len(d.data))
	}
	a := &answer{status: http.StatusOK, charge: QueryCharge(sizes...), read: len(rows)}
	a.set("etag", strconv.Quote(strconv.FormatInt(end, 10)))
	a.set("x-ms-session-token", v.sessionToken(""))
	a.set("x-ms-item-count", strconv.Itoa(len(rows)))
	if len(rows) == 0 {
		a.status = http.StatusNotModified
		return a
	}
	a.body = listBody(v.rid, "Documents", rows)
	return a
}
