package conformance

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/slice"
)

func (c repairCase) run(t *testing.T) verdict {
	reference := c.reference()
	if c.Expected != nil {
		reference.Rows = texts(elements(*c.Expected))
	}
	return judge(reference, c.change(t, slice.Repair), func(f *fired) treated {
		return c.predict(f, reference, func(raw []string, v view) ([]string, bool) {
			for range 2 {
				d := diagnosis(v.all(raw))
				if d.healthy() {
					return raw, true
				}
				raw = repairRows(raw, v, d)
				if diagnosis(v.all(raw)).healthy() {
					return raw, true
				}
				if !v.f.by(healthyAfter) {
					break
				}
			}
			return raw, false
		})
	})
}

func (c rewindCase) run(t *testing.T) verdict {
	reference := c.reference()
	if c.Expected != nil {
		reference.Rows = texts(elements(*c.Expected))
	}
	ours := c.change(t, slice.Rewind)
	ours.Status = "" // the reference does not look
	return judge(reference, ours, func(f *fired) treated {
		o := c.predict(f, reference, func(raw []string, v view) ([]string, bool) {
			for d := diagnosis(v.all(raw)); !d.healthy(); d = diagnosis(v.all(raw)) {
				raw = raw[:rewindRows(v.all(raw), d)]
				if !diagnosis(v.all(raw)).healthy() && !v.f.by(healthyAfter) {
					break
				}
			}
			return raw, true
		})
		o.Status = ""
		return o
	})
}
