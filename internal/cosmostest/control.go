package cosmostest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// accountAnswer tells clients where the account is and how consistent.
func (s *Server) accountAnswer(c *call) *answer {
	region := []jsondoc.Value{jsondoc.NewObject(
		jsondoc.Member{Name: "name", Value: "Local"},
		jsondoc.Member{Name: "databaseAccountEndpoint", Value: c.base},
	)}
	return &answer{status: http.StatusOK, charge: controlCharge, body: jsondoc.Append(nil, jsondoc.NewObject(
		jsondoc.Member{Name: "_self", Value: ""},
		jsondoc.Member{Name: "id", Value: s.options.Name},
		jsondoc.Member{Name: "_rid", Value: s.options.Name + ".documents.test"},
		jsondoc.Member{Name: "_dbs", Value: "//dbs/"},
		jsondoc.Member{Name: "writableLocations", Value: region},
		jsondoc.Member{Name: "readableLocations", Value: region},
		jsondoc.Member{Name: "enableMultipleWriteLocations", Value: false},
		jsondoc.Member{Name: "userConsistencyPolicy", Value: jsondoc.NewObject(
			jsondoc.Member{Name: "defaultConsistencyLevel", Value: s.options.Consistency.String()})},
	))}
}

// control serves requests on databases and containers.
func (s *Server) control(c *call) (*answer, *failure) {
	switch {
	case c.query:
		return nil, fail(http.StatusBadRequest, "Databases and containers are not listed here")
	case c.kind == databases && c.feed:
		return s.createDatabase(c)
	}
	db := s.databases[c.Database]
	if db == nil {
		return nil, fail(http.StatusNotFound, "Owner resource does not exist")
	}
	if c.kind == databases {
		return s.databaseRequest(c, db)
	}
	if c.feed {
		return s.createContainer(c, db)
	}
	return s.containerRequest(c, db)
}

// described adds the members that the service adds to a resource.
func (s *Server) described(o *jsondoc.Object, c *call, rid, self string) *jsondoc.Object {
	s.serial++
	return o.Without(systemMembers...).
		With("_rid", rid).
		With("_self", self).
		With("_etag", fmt.Sprintf(`"0000-%08x"`, s.serial)).
		With("_ts", float64(c.At.Unix()))
}

func (s *Server) createDatabase(c *call) (*answer, *failure) {
	o, f := named(c.Body)
	if f != nil {
		return nil, f
	}
	id := o.String("id")
	if s.databases[id] != nil {
		return nil, fail(http.StatusConflict, "Resource with specified id or name already exists")
	}
	rid := fmt.Sprintf("db%02d", len(s.databases)+s.removed)
	db := &database{id: id, rid: rid, containers: map[string]*container{}}
	db.properties = s.described(o, c, rid, "dbs/"+rid+"/").With("_colls", "colls/").With("_users", "users/")
	s.databases[id] = db
	return resourceAnswer(http.StatusCreated, db.properties), nil
}

// named reads the properties of a database or container.
func named(body []byte) (*jsondoc.Object, *failure) {
	o, err := jsondoc.ParseObject(body)
	if err != nil {
		return nil, fail(http.StatusBadRequest, "The resource body is invalid: %v", err)
	}
	id := o.String("id")
	if id == "" || len(id) > 255 || strings.ContainsAny(id, `/\?#`) || strings.HasSuffix(id, " ") {
		return nil, fail(http.StatusBadRequest, "The input name is invalid")
	}
	return o, nil
}

func (s *Server) databaseRequest(c *call, db *database) (*answer, *failure) {
	switch c.Method {
	case http.MethodGet:
		return resourceAnswer(http.StatusOK, db.properties), nil
	case http.MethodDelete:
		delete(s.databases, db.id)
		s.removed++
		return &answer{status: http.StatusNoContent, charge: controlCharge}, nil
	}
	return nil, fail(http.StatusMethodNotAllowed, "A database cannot be replaced")
}

func (s *Server) createContainer(c *call, db *database) (*answer, *failure) {
	o, f := named(c.Body)
	if f != nil {
		return nil, f
	}
	id := o.String("id")
	if db.containers[id] != nil {
		return nil, fail(http.StatusConflict, "Resource with specified id or name already exists")
	}
	d, f := parseDefinition(o)
	if f != nil {
		return nil, f
	}
	s.removed++
	rid := fmt.Sprintf("%sco%04d", db.rid, s.removed)
	box := &container{id: id, rid: rid, definition: d, partitions: map[string]*partition{}}
	box.properties = s.described(o, c, rid, "dbs/"+db.rid+"/colls/"+rid+"/").With("_docs", "docs/").With("_conflicts", "conflicts/")
	db.containers[id] = box
	return resourceAnswer(http.StatusCreated, box.properties), nil
}

func (s *Server) containerRequest(c *call, db *database) (*answer, *failure) {
	box := db.containers[c.Container]
	if box == nil {
		return nil, fail(http.StatusNotFound, "Resource Not Found")
	}
	switch c.Method {
	case http.MethodGet:
		return resourceAnswer(http.StatusOK, box.properties), nil
	case http.MethodDelete:
		delete(db.containers, box.id)
		return &answer{status: http.StatusNoContent, charge: controlCharge}, nil
	}
	o, f := named(c.Body)
	if f != nil {
		return nil, f
	}
	d, f := parseDefinition(o)
	if f != nil {
		return nil, f
	}
	if o.String("id") != box.id || !jsondoc.Equal(o.Get("partitionKey"), box.properties.Get("partitionKey")) {
		return nil, fail(http.StatusBadRequest, "The id and the partition key of a container cannot be changed")
	}
	if !matches(&version{etag: box.properties.String("_etag")}, write{ifMatch: c.header.Get("If-Match")}) {
		return nil, fail(http.StatusPreconditionFailed, "The container was changed by another request")
	}
	box.definition = d
	box.properties = s.described(o, c, box.rid, box.properties.String("_self"))
	return resourceAnswer(http.StatusOK, box.properties), nil
}
