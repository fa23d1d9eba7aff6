"""A simulated shop: which banner to show to whom, where few click and tastes change with the season."""

from driftbandit.shop.visits import VISITOR as VISITOR
from driftbandit.shop.visits import Shop as Shop
from driftbandit.shop.visits import Visit as Visit
