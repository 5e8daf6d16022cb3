-- facts_due: a new fact is due to the graph
CREATE FUNCTION graph_is_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO graph_due VALUES (new.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER facts_due AFTER INSERT ON facts FOR EACH ROW EXECUTE FUNCTION graph_is_due();

-- passages_due: and so is a new passage
CREATE TRIGGER passages_due AFTER INSERT ON passages FOR EACH ROW EXECUTE FUNCTION graph_is_due();

-- facts_moved: a fact that says something else, or is another owner's, is taken in again
CREATE FUNCTION graph_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM named WHERE memory = old.id;
    INSERT INTO graph_due VALUES (new.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER facts_moved AFTER UPDATE OF owner, text ON facts FOR EACH ROW
WHEN (old.owner != new.owner OR old.text != new.text) EXECUTE FUNCTION graph_moves();

-- passages_moved: and so is a passage
CREATE TRIGGER passages_moved AFTER UPDATE OF owner, text ON passages FOR EACH ROW
WHEN (old.owner != new.owner OR old.text != new.text) EXECUTE FUNCTION graph_moves();

-- facts_unnamed: what is forgotten leaves the graph with its row
CREATE FUNCTION graph_lets_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM named WHERE memory = old.id;
    DELETE FROM graph_due WHERE memory = old.id;
    RETURN NULL;
END $$;
CREATE TRIGGER facts_unnamed AFTER DELETE ON facts FOR EACH ROW EXECUTE FUNCTION graph_lets_go();

-- passages_unnamed: of both tables
CREATE TRIGGER passages_unnamed AFTER DELETE ON passages FOR EACH ROW EXECUTE FUNCTION graph_lets_go();

-- named_more: a name stands in one more memory
CREATE FUNCTION name_stands_in_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE names SET degree = degree + 1 WHERE number = new.name;
    RETURN NULL;
END $$;
CREATE TRIGGER named_more AFTER INSERT ON named FOR EACH ROW EXECUTE FUNCTION name_stands_in_more();

-- named_less: or in one less, and goes where that was the last
CREATE FUNCTION name_stands_in_less() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE names SET degree = degree - 1 WHERE number = old.name;
    DELETE FROM names WHERE number = old.name AND degree <= 0;
    RETURN NULL;
END $$;
CREATE TRIGGER named_less AFTER DELETE ON named FOR EACH ROW EXECUTE FUNCTION name_stands_in_less();
