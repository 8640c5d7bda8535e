package foreign

import (
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// result sends out the result of a call: the first on the line, else the first
// beside it.
func (r *rendering) result(c sessionstore.ToolCall, h uint64, asked time.Time) error {
	best := int32(-1)
	for _, res := range r.t.resultsOf(h) {
		rec := r.t.records.at(res.at)
		if rec.is(isRepeated) || r.numbers[res.at] > 0 && r.t.repeated[h] {
			continue
		}
		if best < 0 || rec.is(onLine) && !r.t.records.at(best).is(onLine) {
			best = res.at
		}
	}
	if best >= 0 {
		l, err := r.read(best)
		if err != nil {
			return err
		}
		if said, other, found := l.result(h); found {
			for _, kind := range other {
				r.report.block("result-" + kind)
			}
			m, err := r.origin(r.lastTime, []int32{best}).resultMessage(c, said)
			return r.send(m, err, []int32{best})
		}
	}
	m, err := r.origin(asked, nil).resultMessage(c, noResult)
	return r.send(m, err, nil)
}
