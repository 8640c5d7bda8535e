package cosmostest

import (
	"net/http"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

const defaultThroughput = 400 // request units a second of a container that asked for nothing

// An offer is the throughput of a database or a container.
type offer struct {
	id      string // of the offer
	owner   string // resource id of the database or container
	content *jsondoc.Object
}

func defaultOffer(rid string) *offer {
	return &offer{"of" + rid, rid, jsondoc.NewObject(jsondoc.Member{Name: "offerThroughput", Value: float64(defaultThroughput)})}
}

// newOffer reads the throughput that a request asks for; nil for none.
func newOffer(c *call, rid string) (*offer, *failure) {
	manual, auto := c.header.Get("x-ms-offer-throughput"), c.header.Get("x-ms-cosmos-offer-autopilot-settings")
	switch {
	case manual != "":
		n, err := strconv.Atoi(manual)
		if err != nil || n < 400 || n%100 != 0 {
			return nil, fail(http.StatusBadRequest, "The offer should have valid throughput values between 400 and 1000000 inclusive in increments of 100")
		}
		return &offer{"of" + rid, rid, jsondoc.NewObject(jsondoc.Member{Name: "offerThroughput", Value: float64(n)})}, nil
	case auto != "":
		settings, err := jsondoc.ParseObject([]byte(auto))
		if err != nil {
			return nil, fail(http.StatusBadRequest, "The autoscale settings are invalid: %v", err)
		}
		return &offer{"of" + rid, rid, jsondoc.NewObject(jsondoc.Member{Name: "offerAutopilotSettings", Value: settings})}, nil
	}
	return nil, nil
}

func (o *offer) properties() *jsondoc.Object {
	return jsondoc.NewObject(
		jsondoc.Member{Name: "id", Value: o.id},
		jsondoc.Member{Name: "_rid", Value: o.id},
		jsondoc.Member{Name: "_self", Value: "offers/" + o.id + "/"},
		jsondoc.Member{Name: "_etag", Value: `"offer"`},
		jsondoc.Member{Name: "offerVersion", Value: "V2"},
		jsondoc.Member{Name: "offerType", Value: "Invalid"},
		jsondoc.Member{Name: "offerResourceId", Value: o.owner},
		jsondoc.Member{Name: "content", Value: o.content},
	)
}

// A budget is how many request units a container spent in a second.
type budget struct {
	second int64
	spent  float64
}
