"""The site: pages, generated reference, pictures, interactive scenes, and what checks them."""
